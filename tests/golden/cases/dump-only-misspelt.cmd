$assay dump --only TIP,TNTT x
