/* SPDX-License-Identifier: MIT */
/* duel [SEED [ROUNDS]]: random walks through real code, traced, then damaged at random. On the sound trace both
 * decoders must find the walk itself; on the damaged one they must agree on every instruction up to the first error. */
#include "damage.h"
#include "rewrite.h"
#include "sides.h"

#include <assay/pt_unit.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* For a look at it with other tools: $DUEL_SAVE/trace.pt and text.bin, to be mapped at text->address. */
static void save(const struct text *text, const uint8_t *data, size_t size)
{
    const struct {
        const char *name;
        const uint8_t *data;
        size_t size;
    } file[] = {{"trace.pt", data, size}, {"text.bin", text->bytes, text->size}};
    const char *folder = getenv("DUEL_SAVE");
    for (size_t i = 0; folder && i < 2; i++) {
        char path[512];
        snprintf(path, sizeof path, "%s/%s", folder, file[i].name);
        FILE *f = fopen(path, "wb");
        if (!f || fwrite(file[i].data, 1, file[i].size, f) != file[i].size)
            perror(path);
        if (f)
            fclose(f);
    }
}

static uint64_t random_ctl(struct random *r)
{
    uint64_t ctl = random_below(r, 4) << ASSAY_RTIT_PSBFREQ_SHIFT;
    if (random_below(r, 2))
        ctl |= ASSAY_RTIT_CYCEN;
    if (ctl & ASSAY_RTIT_CYCEN && random_below(r, 2))
        ctl |= (1 + random_below(r, 10)) << ASSAY_RTIT_CYCTHRESH_SHIFT;
    if (random_below(r, 2))
        ctl |= ASSAY_RTIT_MTCEN | UINT64_C(3) << ASSAY_RTIT_MTCFREQ_SHIFT;
    if (random_below(r, 2))
        ctl |= ASSAY_RTIT_TSCEN;
    if (random_below(r, 2))
        ctl |= ASSAY_RTIT_DISRETC;
    return ctl;
}

static size_t random_piece(struct random *r) { return random_below(r, 2) ? 0 : 1 + (size_t)random_below(r, 3000); }

static bool same_insns(const char *who, const uint64_t *want, size_t want_n, const struct side *s)
{
    size_t n = want_n < s->n ? want_n : s->n;
    for (size_t i = 0; i < n; i++)
        if (want[i] != s->ip[i]) {
            printf("%s: instruction %zu is %" PRIx64 ", want %" PRIx64 "\n", who, i, s->ip[i], want[i]);
            return false;
        }
    if (want_n != s->n || s->erred) {
        printf("%s: %zu instructions, want %zu%s%s\n", who, s->n, want_n, s->erred ? "; error: " : "",
               s->erred ? s->error : "");
        return false;
    }
    return true;
}

/* Every point must be the cycle at which the instruction before it retired, but for points where tracing went on again
 * (they may lie later: nothing retired since) and what is left at the end. */
static bool true_points(const char *who, const struct recording *rec, const struct side *s)
{
    for (size_t i = 0; i < s->cycles_n; i++) {
        uint64_t n = s->cycles[i].insns, cycle = s->cycles[i].value;
        uint64_t low = n && n < rec->n ? rec->cycle[n - 1] : 0, high = n < rec->n ? rec->cycle[n] : UINT64_MAX;
        if (cycle < low || cycle > high) {
            printf("%s: point %zu: after %" PRIu64 " instructions %" PRIu64 " cycles, truth %" PRIu64 "..%" PRIu64 "\n",
                   who, i, n, cycle, low, high);
            return false;
        }
    }
    return true;
}

static bool same_cycles(const struct side *a, const struct side *b)
{
    size_t n = a->cycles_n < b->cycles_n ? a->cycles_n : b->cycles_n;
    for (size_t i = 0; i < n; i++)
        if (a->cycles[i].insns != b->cycles[i].insns || a->cycles[i].value != b->cycles[i].value) {
            printf("cycles %zu: oracle %" PRIu64 " at %" PRIu64 ", flow %" PRIu64 " at %" PRIu64 "\n", i,
                   a->cycles[i].value, a->cycles[i].insns, b->cycles[i].value, b->cycles[i].insns);
            return false;
        }
    if (a->cycles_n != b->cycles_n)
        printf("cycles: oracle %zu places, flow %zu\n", a->cycles_n, b->cycles_n);
    return a->cycles_n == b->cycles_n;
}

/* The oracle gives what TSC and MTC packets tell. The estimate of the flow is that, or later where it came by cycles;
 * where a TSC is no whole number of crystal ticks they may round differently. */
static bool same_time(const struct side *a, const struct side *b, bool cyc)
{
    if (a->time_n != b->time_n) {
        printf("times: oracle %zu, flow %zu\n", a->time_n, b->time_n);
        return false;
    }
    for (size_t i = 0; i < a->time_n; i++) {
        uint64_t told = a->time[i].value, estimate = b->time[i].value;
        bool back = i > 0 && estimate < b->time[i - 1].value;
        if (a->time[i].insns != b->time[i].insns || estimate + 1 < told || (!cyc && estimate > told + 1) || back) {
            printf("time %zu: oracle %" PRIu64 " at %" PRIu64 ", flow %" PRIu64 " at %" PRIu64 "\n", i, told,
                   a->time[i].insns, estimate, b->time[i].insns);
            return false;
        }
    }
    return true;
}

static bool sound(const struct text *text, const struct recording *rec, struct random *r, uint64_t ctl)
{
    bool cyc = ctl & ASSAY_RTIT_CYCEN;
    struct side a = side_of_oracle(text, rec->data, rec->size);
    struct side b = side_of_flow(text, rec->data, rec->size, random_piece(r), random_below(r, 2));
    bool ok = same_insns("oracle", rec->ip, rec->n, &a) && same_insns("flow", rec->ip, rec->n, &b) &&
              true_points("oracle", rec, &a) && true_points("flow", rec, &b) && same_cycles(&a, &b) &&
              same_time(&a, &b, cyc);
    if (!ok) {
        printf("RTIT_CTL %" PRIx64 "\n", ctl);
        save(text, rec->data, rec->size);
    }
    side_free(&a);
    side_free(&b);
    return ok;
}

/* Told in other packets; not the cycles, which joined branch outcomes have in other places. */
static bool rewritten(const struct text *text, const struct recording *rec, struct random *r)
{
    size_t size;
    uint8_t *data = rewrite(rec, r, &size);
    struct side a = side_of_oracle(text, data, size);
    struct side b = side_of_flow(text, data, size, random_piece(r), random_below(r, 2));
    bool ok =
        same_insns("rewritten, oracle", rec->ip, rec->n, &a) && same_insns("rewritten, flow", rec->ip, rec->n, &b);
    if (!ok)
        save(text, data, size);
    side_free(&a);
    side_free(&b);
    free(data);
    return ok;
}

static void dump(const struct trace *t, uint64_t around)
{
    size_t from = around > 24 ? around - 24 : 0;
    for (size_t i = from; i < t->size && i < from + 64; i++)
        printf("%s%02x", i == around ? "[" : " ", t->data[i]);
    printf("\n");
}

static bool same_in_all(const struct side *a, const struct side *b)
{
    return a->n == b->n && (a->n == 0 || memcmp(a->ip, b->ip, a->n * sizeof *a->ip) == 0);
}

/* What was walked over between the last decided branch and the error may be given or not: no rule says. */
static bool same_until_error(const struct side *oracle, const struct side *flow)
{
    size_t most = oracle->sure + oracle->maybe_n, n = flow->sure;
    if (oracle->error == oracle_fup_after_fup && n > oracle->sure)
        n = oracle->sure;
    if (n < oracle->sure || n > most)
        return false;
    for (size_t i = 0; i < n; i++)
        if (flow->ip[i] != (i < oracle->sure ? oracle->ip[i] : oracle->maybe[i - oracle->sure]))
            return false;
    return true;
}

static void print_from(const char *who, const struct side *s, size_t from)
{
    printf("%s %zu:", who, from);
    for (size_t i = from; i < s->n && i < from + 8; i++)
        printf(" %" PRIx64, s->ip[i]);
    printf("\n");
}

static void print_parting(const struct side *oracle, const struct side *flow)
{
    size_t n = oracle->n < flow->n ? oracle->n : flow->n, i = 0;
    while (i < n && oracle->ip[i] == flow->ip[i])
        i++;
    print_from("oracle", oracle, i);
    print_from("flow  ", flow, i);
}

static bool damaged(const struct text *text, const struct trace *t, struct random *r)
{
    struct side a = side_of_oracle(text, t->data, t->size);
    struct side b = side_of_flow(text, t->data, t->size, random_piece(r), random_below(r, 2));
    bool ok =
        same_in_all(&a, &b) || (a.erred && (b.erred || a.error == oracle_fup_after_fup) && same_until_error(&a, &b));
    if (!ok) {
        printf("oracle: %zu then at offset %" PRIu64 " ip %" PRIx64 ": %s\n", a.sure, a.error_offset, a.error_ip,
               a.erred ? a.error : "no error");
        dump(t, a.erred ? a.error_offset : t->size);
        printf("flow:   %zu then at offset %" PRIu64 " ip %" PRIx64 ": %s\n", b.sure, b.error_offset, b.error_ip,
               b.erred ? b.error : "no error");
        dump(t, b.erred ? b.error_offset : t->size);
        print_parting(&a, &b);
        save(text, t->data, t->size);
    }
    side_free(&a);
    side_free(&b);
    return ok;
}

static bool sound_round(const struct text *text, uint64_t seed, unsigned mode)
{
    struct random r = {seed};
    struct walk_options options = {.ctl = random_ctl(&r), .mode = mode, .insns = 200 + random_below(&r, 3000)};
    struct recording rec = walk_randomly(text, &r, &options);
    bool ok = sound(text, &rec, &r, options.ctl) && rewritten(text, &rec, &r);
    recording_free(&rec);
    return ok;
}

/* At addresses below 4 GiB, where 32-bit code can be too. */
static bool damage_round(const struct text *text, uint64_t seed)
{
    struct random r = {seed};
    struct walk_options options = {.ctl = random_ctl(&r), .mode = 64, .insns = 200 + random_below(&r, 3000)};
    struct recording rec = walk_randomly(text, &r, &options);
    bool ok = true;
    for (unsigned i = 0; ok && i < 20; i++) {
        struct trace t = {malloc(rec.size), rec.size};
        if (!t.data)
            abort();
        memcpy(t.data, rec.data, rec.size);
        for (uint64_t more = 1 + random_below(&r, 3); more > 0 && t.size > 16; more--)
            damage(&t, text, &r);
        ok = t.size == 0 || damaged(text, &t, &r);
        free(t.data);
    }
    recording_free(&rec);
    return ok;
}

int main(int argc, char **argv)
{
    uint64_t seed = argc > 1 ? strtoull(argv[1], NULL, 0) : 1;
    uint64_t rounds = argc > 2 ? strtoull(argv[2], NULL, 0) : 200, failed = 0;
    struct text high = text_of_libc(UINT64_C(0x7ffff7c00000)), low = text_of_libc(0x56550000);
    for (uint64_t i = seed; i < seed + rounds; i++)
        if (!sound_round(&high, i, 64) || !sound_round(&low, i, 32) || !damage_round(&low, i)) {
            printf("seed %" PRIu64 "\n", i);
            failed++;
        }
    printf("%" PRIu64 " of %" PRIu64 " rounds differ\n", failed, rounds);
    free(high.entry);
    free(low.entry);
    return failed != 0;
}
