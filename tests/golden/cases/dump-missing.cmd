$assay dump nowhere
