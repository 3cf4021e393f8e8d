/* SPDX-License-Identifier: MIT */
/* Our libpfm.so.4 beside Debian's: every event of a PMU with all umasks, pairs of umasks, modifiers and raw umasks, at
 * every layer. No difference may be outside the list, and every row of the list must match one.
 * usage: libpfm_differential REFERENCE.so OURS.so LIST.tsv [SHOW]   prints up to SHOW differences that are not in the
 * list */
#include "libpfm_sides.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/mman.h>
#include <sys/wait.h>

enum { ROWS = 128, TEXT = 4096 };

/* A row: globs for the call, what it was asked about, the field, the reference's value and ours; then the defect. */
struct row {
    char *cell[6];
};
struct tally {
    unsigned long seen[ROWS], asked, differences, unknown;
};
static struct row rows[ROWS];
static unsigned row_count;
static struct tally *tally; /* shared with the processes that compare */
static unsigned long show = 20;

static void read_rows(const char *path)
{
    FILE *f = fopen(path, "r");
    if (!f) {
        perror(path);
        exit(1);
    }
    for (char line[TEXT]; fgets(line, sizeof line, f);) {
        line[strcspn(line, "\n")] = '\0';
        if (!line[0] || line[0] == '#')
            continue;
        char *rest = strdup(line);
        for (unsigned i = 0; i < 6; i++)
            rows[row_count].cell[i] = rest ? strsep(&rest, "\t") : NULL;
        if (!rows[row_count].cell[5] || ++row_count == ROWS) {
            fprintf(stderr, "%s: a row has six cells, and there are at most %d rows: %s\n", path, ROWS - 1, line);
            exit(1);
        }
    }
    fclose(f);
}

static void differs(void *ctx, const char *call, const char *on, const char *field, const char *reference,
                    const char *ours)
{
    (void)ctx;
    const char *is[] = {call, on, field, reference, ours};
    tally->differences++;
    for (unsigned r = 0; r < row_count; r++) {
        unsigned i = 0;
        while (i < 5 && fnmatch(rows[r].cell[i], is[i], FNM_CASEFOLD | FNM_EXTMATCH) == 0)
            i++;
        if (i == 5) {
            tally->seen[r]++;
            return;
        }
    }
    if (tally->unknown++ < show)
        printf("%s\t%s\t%s\t%s\t%s\n", call, on, field, reference, ours);
}

/* Names of an event's umasks, as the reference lists them. */
struct names {
    const char *name[64];
    unsigned n;
};

static void list_umasks(const struct side *s, int idx, struct names *u)
{
    pfm_event_attr_info_t a = {.size = sizeof a};
    for (u->n = 0; u->n < 64 && s->get_event_attr_info(idx, (int)u->n, PFM_OS_NONE, &a) == PFM_SUCCESS; u->n++) {
        if (a.type != PFM_ATTR_UMASK)
            break;
        u->name[u->n] = a.name;
    }
}

static void compare_parts(struct sides *s, const char *event, const char *a, const char *b)
{
    char text[TEXT];
    snprintf(text, sizeof text, "%s%s%s%s%s", event, *a ? ":" : "", a, *b ? ":" : "", b);
    compare_string(s, text, PFM_PLM0 | PFM_PLM3);
}

static void compare_umasks(struct sides *s, const char *event, const struct names *u)
{
    for (unsigned i = 0; i < u->n; i++) {
        char twice[160];
        snprintf(twice, sizeof twice, "%s:%s", u->name[i], u->name[i]);
        compare_parts(s, event, u->name[i], "");
        compare_parts(s, event, u->name[i], twice);
        for (unsigned j = 0; j < u->n; j++)
            compare_parts(s, event, u->name[i], u->name[j]);
    }
}

static const char *const modifiers[] = {"u",  "k",  "e",   "i",      "c",    "t",       "h",    "cmpl",   "thr",
                                        "mg", "mh", "cpu", "period", "freq", "precise", "excl", "pinned", "m"};
static const char *const values[] = {"",
                                     "=0",
                                     "=1",
                                     "=2",
                                     "=3",
                                     "=4",
                                     "=15",
                                     "=16",
                                     "=y",
                                     "=N",
                                     "=t",
                                     "=F",
                                     "=yes",
                                     "=",
                                     "=0x10",
                                     "=010",
                                     "=+1",
                                     "=-1",
                                     "=1x",
                                     "=09",
                                     "=255",
                                     "=256",
                                     "=4294967296",
                                     "=2147483647",
                                     "=2147483646",
                                     "=2147483648",
                                     "=18446744073709551615",
                                     "=18446744073709551616"};
/* One of each kind, to stand beside another. */
static const char *const pairs[] = {
    "u",      "u=0",       "k",         "k=0",       "e",        "e=0",  "i",      "i=0",      "c=0",
    "c=1",    "c=255",     "c=256",     "t",         "t=0",      "h",    "cmpl",   "cmpl=0",   "thr=0",
    "thr=15", "thr=16",    "mg",        "mg=0",      "mh",       "mh=0", "cpu=3",  "period=0", "freq=0",
    "freq=9", "precise=0", "precise=2", "precise=4", "period=9", "excl", "excl=0", "pinned",   "pinned=0"};
static const char *const raw[] = {"0x0",
                                  "0x1",
                                  "0x41",
                                  "0xff",
                                  "0x100",
                                  "0xffff",
                                  "0x18001",
                                  "0x8000",
                                  "0x10000",
                                  "0x13081",
                                  "0X13081",
                                  "0x80000001",
                                  "0x3fffffffff",
                                  "0x7fffffffff",
                                  "0x4000000000",
                                  "0x100000000000",
                                  "0x",
                                  "0xg",
                                  "0x1=1",
                                  "1",
                                  "0xffffffffffffffff",
                                  "0x10000000000000000",
                                  "0x4000008000",
                                  "0x180018000"};
static const char *const broken[] = {":",  "::",  ".",        ":u:",        ":u::k", ":,",   ":u,",
                                     " ",  "\t",  ":u=1=1",   ":=",         ":=1",   "=1",   ":u.k",
                                     ".u", "::u", ":nothing", ":nothing=1", "\n",    ":u k", ":\x80"};
#define COUNT(a) (sizeof(a) / sizeof(a)[0])

static void compare_modifiers(struct sides *s, const char *event, const struct names *u)
{
    char text[64];
    for (size_t m = 0; m < COUNT(modifiers); m++)
        for (size_t v = 0; v < COUNT(values); v++) {
            snprintf(text, sizeof text, "%s%s", modifiers[m], values[v]);
            compare_parts(s, event, text, "");
            if (u->n)
                compare_parts(s, event, text, u->name[u->n - 1]);
        }
    for (size_t a = 0; a < COUNT(pairs); a++) {
        for (size_t b = 0; b < COUNT(pairs); b++)
            compare_parts(s, event, pairs[a], pairs[b]);
        for (unsigned i = 0; i < u->n; i++)
            compare_parts(s, event, u->name[i], pairs[a]);
    }
}

static void compare_raw(struct sides *s, const char *event, const struct names *u)
{
    for (size_t r = 0; r < COUNT(raw); r++) {
        compare_parts(s, event, raw[r], "");
        compare_parts(s, event, raw[r], "u");
        compare_parts(s, event, raw[r], raw[r]);
        if (u->n) {
            compare_parts(s, event, raw[r], u->name[0]);
            compare_parts(s, event, u->name[0], raw[r]);
        }
    }
}

/* What surrounds a name: PMU or none, upper or lower case, wrong characters, privilege from the caller. */
static void compare_spelling(struct sides *s, const char *pmu, const char *event)
{
    static const int plm[] = {0, 1, 2, 4, 8, 9, 16, 17, 31, 32, -1};
    char text[TEXT];
    compare_parts(s, event, "", "");
    snprintf(text, sizeof text, "%s::%s", pmu, event);
    for (char *c = text; *c; c++)
        *c = (char)(*c >= 'a' && *c <= 'z' ? *c - 32 : *c >= 'A' && *c <= 'Z' ? *c + 32 : *c);
    compare_parts(s, text, "", "");
    for (size_t i = 0; i < COUNT(plm); i++)
        compare_string(s, text, plm[i]);
    for (size_t i = 0; i < COUNT(broken); i++) {
        snprintf(text, sizeof text, "%s::%s%s", pmu, event, broken[i]);
        compare_parts(s, text, "", "");
    }
    snprintf(text, sizeof text, "%sx", event);
    compare_parts(s, text, "", "");
    snprintf(text, sizeof text, "nothing::%s,", event);
    compare_parts(s, text, "", "");
    snprintf(text, sizeof text, "%s%s", pmu, event);
    compare_parts(s, text, "", "");
}

static void compare_one(struct sides *s, const char *pmu, int idx)
{
    pfm_event_info_t e = {.size = sizeof e};
    if (s->reference.get_event_info(idx, PFM_OS_NONE, &e) != PFM_SUCCESS)
        return;
    struct names u;
    list_umasks(&s->reference, idx, &u);
    char event[256];
    snprintf(event, sizeof event, "%s::%s", pmu, e.name);
    compare_spelling(s, pmu, e.name);
    compare_umasks(s, event, &u);
    compare_modifiers(s, event, &u);
    compare_raw(s, event, &u);
    for (pfm_os_t os = PFM_OS_NONE; os <= PFM_OS_MAX; os++) {
        compare_event(s, idx, os);
        for (int a = -1; a <= e.nattrs + 9; a++)
            compare_attribute(s, idx, a, os);
    }
}

/* One PMU, forced, in this process. */
static void compare_all(struct sides *s, const char *pmu)
{
    int r = s->reference.initialize(), o = s->ours.initialize();
    if (r != PFM_SUCCESS || o != PFM_SUCCESS)
        differs(NULL, "initialize", pmu, "result", s->reference.strerror(r), s->ours.strerror(o));
    int number = 0;
    pfm_pmu_info_t p = {.size = sizeof p};
    for (int i = 0; i < PFM_PMU_MAX; i++)
        if (s->reference.get_pmu_info((pfm_pmu_t)i, &p) == PFM_SUCCESS && strcmp(p.name, pmu) == 0)
            number = i;
    compare_pmu(s, number);
    for (int i = PFM_PMU_MAX; i < PFM_PMU_MAX + 3; i++)
        compare_pmu(s, i);
    s->reference.get_pmu_info((pfm_pmu_t)number, &p);
    for (int i = 0; i < p.nevents; i++)
        compare_one(s, pmu, p.first_event + i);
    for (int i = p.nevents; i < p.nevents + 3; i++)
        compare_event(s, p.first_event + i, PFM_OS_NONE);
    pfm_event_info_t e = {.size = sizeof e};
    s->reference.get_event_info(p.first_event, PFM_OS_NONE, &e);
    compare_arguments(s, p.first_event, e.name);
    compare_string(s, "", PFM_PLM3);
    compare_string(s, "::", PFM_PLM3);
}

static bool compare_forced(const char *reference, const char *ours, const char *pmu)
{
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        setenv("LIBPFM_FORCE_PMU", pmu, 1);
        struct sides s = {side_load(reference), side_load(ours), differs, NULL, 0};
        compare_all(&s, pmu);
        tally->asked += s.asked;
        exit(0);
    }
    int status;
    if (child < 0 || waitpid(child, &status, 0) != child || !WIFEXITED(status) || WEXITSTATUS(status) != 0) {
        printf("comparing %s did not end well\n", pmu);
        return false;
    }
    return true;
}

int main(int argc, char **argv)
{
    static const char *const pmus[] = {"knm", "knl", "netburst", "netburst_p"};
    if (argc < 4)
        return 2;
    if (argc > 4)
        show = strtoul(argv[4], NULL, 0);
    read_rows(argv[3]);
    tally = mmap(NULL, sizeof *tally, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (tally == MAP_FAILED)
        return 1;
    bool good = true;
    for (size_t i = 0; i < COUNT(pmus); i++)
        good &= compare_forced(argv[1], argv[2], pmus[i]);
    for (unsigned r = 0; r < row_count; r++)
        if (tally->seen[r] == 0) {
            printf("the list has a difference that there is not: %s %s %s\n", rows[r].cell[0], rows[r].cell[1],
                   rows[r].cell[2]);
            good = false;
        }
    printf("%lu answers compared, %lu differences, %lu of them not in the list\n", tally->asked, tally->differences,
           tally->unknown);
    return good && tally->unknown == 0 ? 0 : 1;
}
