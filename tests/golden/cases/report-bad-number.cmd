$assay report --top many t.data
