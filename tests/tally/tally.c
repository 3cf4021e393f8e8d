/* SPDX-License-Identifier: MIT */
/* Counts a program on the machine model and writes the tally of every thread to a file: "thread PID TID", then "quantity value" lines.
 *
 * usage: tally MODEL QUANTITIES OUTPUT PROGRAM [ARGS]   MODEL: flat, cache or a file; QUANTITIES: names with commas, or "all" */
#include <assay/tally.h>

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *const name[ASSAY_MACHINE_QUANTITIES] = {
    "straight",     "cond-not-taken", "cond-taken",    "jmp",          "call",
    "jmp-ind",      "call-ind",       "ret",           "far",          "miss-not-taken",
    "miss-taken",   "miss-jmp-ind",   "miss-call-ind", "miss-ret",     "l1i-hit",
    "code-l2",      "code-llc",       "code-memory",   "load-l2",      "load-llc",
    "load-memory",  "store-l2",       "store-llc",     "store-memory", "fetch-cycles",
    "load-cycles",  "branch-cycles",  "far-cycles",    "loads",        "stores",
    "instructions", "cycles",         "ref-cycles",
};

static int fail(const struct assay_error *e)
{
    fprintf(stderr, "tally: %s\n", e->text);
    return 2;
}

static uint64_t read_quantities(char *text)
{
    uint64_t set = 0;
    for (char *word = strtok(text, ","); word; word = strtok(NULL, ","))
        for (unsigned q = 0; q < ASSAY_MACHINE_QUANTITIES; q++)
            if (strcmp(word, "all") == 0 || strcmp(word, name[q]) == 0)
                set |= ASSAY_MACHINE_BIT(q);
    return set;
}

static int read_model(const char *path, struct assay_machine_model *m, struct assay_error *e)
{
    static char text[65536];
    int fd = open(path, O_RDONLY);
    ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof text);
    return n < 0 ? assay_error_sys(e, errno, "%s", path) : assay_machine_parse(text, (size_t)n, m, e);
}

static void print_threads(FILE *f, const struct assay_tally *c)
{
    for (size_t i = 0; i < assay_tally_threads(c); i++) {
        const struct assay_tally_thread *t = assay_tally_thread(c, i);
        fprintf(f, "thread %" PRIu32 " %" PRIu32 "%s\n", t->pid, t->tid, t->killed ? " killed" : "");
        for (unsigned q = 0; q < ASSAY_MACHINE_QUANTITIES; q++)
            fprintf(f, "%s %" PRIu64 "\n", name[q], t->tally[q]);
    }
}

int main(int argc, char **argv)
{
    struct assay_error e = {0};
    struct assay_tally *c;
    char why[160];
    if (argc < 5)
        return 2;
    struct assay_tally_options o = {.argv = argv + 4, .quantities = read_quantities(argv[2])};
    if (assay_machine_builtin(argv[1], &o.model) < 0 && read_model(argv[1], &o.model, &e) < 0)
        return fail(&e);
    if (assay_tally_start(&o, &c, &e) < 0)
        return fail(&e);
    waitpid(assay_tally_pid(c), NULL, 0);
    if (assay_tally_collect(c, &e) < 0)
        return fail(&e);
    FILE *f = fopen(argv[3], "w");
    if (!f)
        return 2;
    print_threads(f, c);
    if (assay_tally_doubts(c, why, sizeof why))
        fprintf(stderr, "tally: %s\n", why);
    uint32_t pid;
    const char *path;
    for (size_t i = 0; (path = assay_tally_exec(c, i, &pid)); i++)
        fprintf(f, "exec %" PRIu32 " %s\n", pid, path);
    assay_tally_free(c);
    return fclose(f) != 0;
}
