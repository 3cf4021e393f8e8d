echo precious >t.data; $assay record -o t.data -- true; echo $?; cat t.data
