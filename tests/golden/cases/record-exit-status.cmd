$assay record -q -o t.data -- sh -c "exit 7"; echo $?; ls
