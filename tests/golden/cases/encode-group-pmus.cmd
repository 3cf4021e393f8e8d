$assay encode --print codes knm::ICACHE netburst::global_power_events
