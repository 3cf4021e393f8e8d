echo text > plain; chmod +x plain; $assay record -- ./plain
