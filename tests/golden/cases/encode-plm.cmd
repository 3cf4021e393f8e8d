$assay encode --plm u --print codes knm::ICACHE; $assay encode --plm k --print codes knm::ICACHE; $assay encode --plm x knm::ICACHE
