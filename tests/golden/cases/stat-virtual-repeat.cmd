$assay stat --virtual -r 3 -o - -e instructions,cycles,branch-misses -- $tally_accesses | sed -E "s#$tally_accesses#PROGRAM#; /elapsed/d; s/ [0-9.]+ +(cycles|branch)/ N \1/; s/[0-9.]+ IPC/N IPC/"
