/* SPDX-License-Identifier: MIT */
/* Inside of the virtual hardware: what recording and counting share, a program that runs under QEMU with our plugin. */
#ifndef ASSAY_VIRTUAL_RUN_H
#define ASSAY_VIRTUAL_RUN_H

#include "spool.h"

#include <signal.h>
#include <sys/types.h>

/* A program as it is started: by what emulator, what file, which arguments. */
struct run_program {
    char *file;       /* path of the ELF file that runs */
    char **argv;      /* its arguments, argv[0] first; owned */
    unsigned mode;    /* 64 or 32 */
    const char *qemu; /* name of the emulator */
};
int run_program_find(char *const *argv, struct run_program *p, struct assay_error *e);
void run_program_free(struct run_program *p);
/* Path of an executable by name, searched in $PATH when it has no slash; NULL with errno. */
char *run_find_executable(const char *name);
/* The plugin's path: as given, $ASSAY_QEMU_PLUGIN, beside the command, where it was installed. NULL after *e was set. */
char *run_find_plugin(const char *given, struct assay_error *e);

struct virtual_run {
    struct run_program program;
    char *plugin, *emulator;
    char *spool;
    char version[64]; /* "QEMU 7.2.22" */
    pid_t pid;
    struct assay_spool_setup
        *setup; /* shared with the plugin; the caller fills it between run_open() and run_spawn() */
};
/* Finds everything and makes the spool. On error run_free() is due all the same. */
int run_open(struct virtual_run *r, char *const *argv, const char *plugin, const char *tmp, struct assay_error *e);
/* mask: signals that the program has blocked; NULL: those of the caller. */
int run_spawn(struct virtual_run *r, const sigset_t *mask, struct assay_error *e);
/* Also removes the spool; kills nothing. */
void run_free(struct virtual_run *r);
/* A file of the spool; number -1: the name has none. */
int run_open_file(const struct virtual_run *r, const char *name, unsigned number, int flags);

/* The whole events file, malloc'd. */
int run_read_events(const struct virtual_run *r, uint8_t **raw, size_t *size, struct assay_error *e);
/* The event at *at, which moves on; its payload, or NULL at the end of what is sound. */
const uint8_t *run_next_event(const uint8_t *raw, size_t size, size_t *at, struct assay_spool_event *out);
/* The head of stream n; its descriptor, or -1 when that thread was never born (setup->failed tells). */
int run_open_stream(const struct virtual_run *r, unsigned n, struct assay_spool_stream *s);
/* Faults and signals that may not have been told exactly, and why; 0 when all is exact. */
unsigned run_doubts(const struct virtual_run *r, char *why, size_t size);

#endif
