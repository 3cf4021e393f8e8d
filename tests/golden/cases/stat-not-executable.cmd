$assay stat -- /etc/passwd
