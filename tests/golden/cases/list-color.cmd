$assay list --color always knm MS_DECODED "MS_*" | cat -v
