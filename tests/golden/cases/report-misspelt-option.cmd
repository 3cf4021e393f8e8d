$assay report --cals t.data
