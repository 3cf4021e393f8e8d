$assay encode netburst::IOQ_allocation:TYPE_BIT1; $assay encode --registers --print codes netburst::IOQ_allocation:TYPE_BIT1
