$assay stat -- ./no-such-program
