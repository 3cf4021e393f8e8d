$assay doctor --json | grep -c "\"status\":\"\(yes\|no\|limited\)\""
