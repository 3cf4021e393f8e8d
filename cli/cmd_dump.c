/* SPDX-License-Identifier: MIT */
/* assay dump: the packets of a trace, one a line. */
#include "cli.h"
#include "dump.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

enum { OPT_AS = 1, OPT_ONLY, OPT_OFFSET, OPT_STREAM };
enum { WINDOW = 1 << 20 };

static int64_t read_fd(void *ctx, void *buf, size_t n, struct assay_error *e)
{
    const int *fd = ctx;
    for (;;) {
        ssize_t got = read(*fd, buf, n);
        if (got >= 0)
            return got;
        if (errno != EINTR)
            return assay_error_sys(e, errno, "cannot read");
    }
}

/* The first bytes, which stay to be read: of a file, or of a pipe. */
static size_t peek(int fd, char *buf, size_t n)
{
    int copy[2];
    ssize_t got = pread(fd, buf, n, 0);
    if (got < 0 && pipe(copy) == 0) {
        if (tee(fd, copy[1], n, 0) > 0)
            got = read(copy[0], buf, n);
        close(copy[0]);
        close(copy[1]);
    }
    return got > 0 ? (size_t)got : 0;
}

static bool is_perf_data(int fd)
{
    char magic[8];
    return peek(fd, magic, 8) == 8 && (memcmp(magic, "PERFILE2", 8) == 0 || memcmp(magic, "2ELIFREP", 8) == 0);
}

/* "TIP" is TIP only, "MODE" both of its packets. */
static bool name_covers(const char *name, size_t n, unsigned type)
{
    const char *full = assay_pt_name(type);
    size_t len = strlen(full);
    return strncasecmp(name, full, n) == 0 && (len == n || (n == 4 && strncmp(full, "MODE.", 5) == 0));
}

static const char *nearest_name(const char *name)
{
    const char *best = NULL;
    unsigned least = 3;
    for (unsigned t = 0; t < ASSAY_PT_TYPES; t++) {
        unsigned d = assay_edit_distance(name, assay_pt_name(t));
        if (d < least) {
            least = d;
            best = assay_pt_name(t);
        }
    }
    return best;
}

static int add_only(struct cli *c, const char *name, size_t n, struct dump_filter *f)
{
    bool known = n == 3 && strncasecmp(name, "gap", 3) == 0;
    for (unsigned t = 0; t < ASSAY_PT_TYPES; t++)
        if (name_covers(name, n, t)) {
            f->hide[t] = false;
            known = true;
        }
    if (known)
        return CLI_OK;
    char word[24] = "";
    memcpy(word, name, n < sizeof word ? n : sizeof word - 1);
    const char *best = nearest_name(word);
    return cli_fail(c, CLI_USAGE, "--only %s: no such packet%s%s", word, best ? "; did you mean " : "",
                    best ? best : "");
}

static int read_only_list(struct cli *c, struct dump_filter *f)
{
    const char *list = cli_value(c, OPT_ONLY);
    if (!list)
        return CLI_OK;
    memset(f->hide, true, ASSAY_PT_TYPES);
    for (size_t n; *list; list += n + (list[n] == ',')) {
        n = strcspn(list, ",");
        int status = add_only(c, list, n, f);
        if (status != CLI_OK)
            return status;
    }
    return CLI_OK;
}

/* "A..B", "A..", "..B": packets from A to before B. */
static int read_offsets(struct cli *c, struct dump_filter *f)
{
    const char *text = cli_value(c, OPT_OFFSET);
    f->to = UINT64_MAX;
    if (!text)
        return CLI_OK;
    char *end = (char *)text;
    if (*text != '.')
        f->from = strtoull(text, &end, 0);
    if (strncmp(end, "..", 2) != 0 || strpbrk(text, "-+ "))
        return cli_fail(c, CLI_USAGE, "--offset %s: not A..B (0x100..0x200, 0x100.., ..512)", text);
    const char *second = end + 2;
    if (*second)
        f->to = strtoull(second, &end, 0);
    else
        end += 2;
    if (*end || f->to < f->from)
        return cli_fail(c, CLI_USAGE, "--offset %s: not A..B (0x100..0x200, 0x100.., ..512)", text);
    return CLI_OK;
}

static const char *name_of(const char *path) { return strcmp(path, "-") == 0 ? "standard input" : path; }

/* Fills the window as far as the input goes. */
static int64_t read_first(struct dump *d, int *fd, struct assay_error *e)
{
    size_t have = 0;
    while (have < d->window_size) {
        int64_t n = read_fd(fd, d->window + have, d->window_size - have, e);
        if (n < 0)
            return n;
        if (n == 0)
            break;
        have += (size_t)n;
    }
    return (int64_t)have;
}

static int dump_raw(struct dump *d, const char *path, int fd, bool forced)
{
    struct cli *c = d->cli;
    struct assay_error e = {0};
    struct stat st;
    int64_t have = read_first(d, &fd, &e);
    if (have < 0)
        return cli_fail(c, CLI_CANNOT, "%s: %s", name_of(path), e.text);
    if (have == 0)
        return cli_fail(c, CLI_CANNOT, "%s is empty", name_of(path));
    if (!forced && assay_pt_find_psb(d->window, (size_t)have) == (size_t)have)
        return cli_fail(
            c, CLI_CANNOT,
            "%s: neither perf.data nor Processor Trace (no PSB in its first %lld bytes); --as pt reads it all "
            "the same",
            name_of(path), (long long)have);
    cli_progress_begin(&d->progress, "dump", fstat(fd, &st) == 0 && S_ISREG(st.st_mode) ? (uint64_t)st.st_size : 0);
    struct dump_source source = {read_fd, &fd};
    int done = dump_packets(d, &source, 0, (size_t)have, &e);
    cli_progress_end(&d->progress);
    if (done < 0)
        return cli_fail(c, CLI_CANNOT, "%s: %s", name_of(path), e.text);
    assay_out_flush(&c->out);
    return cli_report_ledger(c, &d->ledger);
}

static int open_input(struct cli *c, const char *path, int *fd)
{
    *fd = strcmp(path, "-") == 0 ? dup(STDIN_FILENO) : open(path, O_RDONLY | O_CLOEXEC);
    return *fd < 0 ? cli_fail(c, CLI_CANNOT, "%s: %s", name_of(path), strerror(errno)) : CLI_OK;
}

static int read_options(struct cli *c, struct dump *d)
{
    const char *as = cli_value(c, OPT_AS);
    if (as && strcmp(as, "pt") != 0 && strcmp(as, "perf") != 0)
        return cli_fail(c, CLI_USAGE, "--as %s: not one of pt, perf", as);
    int status = cli_need_operands(c, 1);
    if (status == CLI_OK)
        status = read_only_list(c, &d->filter);
    return status == CLI_OK ? read_offsets(c, &d->filter) : status;
}

static int dump_file(struct dump *d, const char *path, int fd)
{
    struct cli *c = d->cli;
    const char *as = cli_value(c, OPT_AS);
    uint64_t stream = 0;
    int status = cli_number(c, OPT_STREAM, false, &stream);
    if (status != CLI_OK)
        return status;
    if (as ? strcmp(as, "perf") == 0 : is_perf_data(fd))
        return dump_perf(d, path, cli_flag(c, OPT_STREAM) ? &stream : NULL);
    if (stream > 0)
        return cli_fail(c, CLI_USAGE, "--stream %s: raw trace is one stream, 0", cli_value(c, OPT_STREAM));
    return dump_raw(d, path, fd, as != NULL);
}

static int run(struct cli *c)
{
    struct dump d = {.cli = c, .window_size = WINDOW, .stream = -1};
    int fd, status = read_options(c, &d);
    if (status != CLI_OK || (status = open_input(c, c->operand[0], &fd)) != CLI_OK)
        return status;
    d.window = malloc(d.window_size);
    status = d.window ? dump_file(&d, c->operand[0], fd) : cli_fail(c, CLI_CANNOT, "out of memory");
    free(d.window);
    close(fd);
    return status;
}

static const struct cli_option options[] = {
    CLI_OPTION_JSON,
    {OPT_AS, 0, "as", "FORMAT", "pt: raw trace, perf: perf.data; else recognised"},
    {OPT_ONLY, 0, "only", "NAMES", "these packets only: --only TIP,FUP (gaps are always shown)"},
    {OPT_OFFSET, 0, "offset", "A..B", "packets that begin at A to before B; either may be left out"},
    {OPT_STREAM, 0, "stream", "N", "of perf.data: this stream only"},
    CLI_OPTION_COLOR,
    CLI_OPT_END,
};

const struct cli_verb cmd_dump = {
    .name = "dump",
    .summary = "the packets of a trace, one a line",
    .operands = "FILE",
    .examples = {"assay dump t.data", "every packet of a recording",
                 "assay dump --only TIP,FUP --json raw.pt | jq -r .ip", "the addresses in a raw trace"},
    .about =
        "Prints the packets of a Processor Trace: offset in the stream in hex, name, fields. FILE is perf.data or raw "
        "trace bytes; - is standard input.\n\n"
        "IP packets show the address after completing the payload with the last IP, `suppressed` where the packet has "
        "none, `unknown` where the trace does not hold what completes it. Bytes that are no packet are a line `gap`; "
        "decoding goes on at the next PSB, and the exit status is then 3 with the sum of the losses on standard error.",
    .options = options,
    .run = run,
};
