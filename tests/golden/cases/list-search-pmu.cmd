$assay list knm --search "mispredicted return" --top 1
