$assay stat --virtual --machine flat -o t -e instructions -- sh -c 'exec true' 2>e; s=$?; sed -E 's/process [0-9]+ became .*true,/process N became TRUE,/' e; exit $s
