cd $data && head -c 700 events/LNL/events/lunarlake_lioncove_core.json > "$OLDPWD/cut.json" && cd "$OLDPWD" && $assay list --events cut.json
