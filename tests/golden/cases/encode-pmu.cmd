$assay encode --pmu netburst --print name global_power_events; $assay encode --cpu 6/87/1 --print name ICACHE; $assay encode --pmu kmn ICACHE
