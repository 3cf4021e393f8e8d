/* SPDX-License-Identifier: MIT */
/* What the library makes of its own tables and of given bytes, printed in full, to be compared between machines.
 * usage: print_core tables|groups|machine|events|packets [FILE...] */
#include <assay/event.h>
#include <assay/machine.h>
#include <assay/pt.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct assay_event_table t;
static struct assay_out out;

static int write_out(void *ctx, const char *data, size_t size)
{
    (void)ctx;
    return fwrite(data, 1, size, stdout) == size ? 0 : 1;
}

static void put(const char *s) { assay_out_str(&out, s); }

static void put_hex(const char *name, uint64_t v)
{
    put(name);
    assay_out_hex(&out, v);
}

static bool print_answer(void *ctx, const struct assay_event_code *c)
{
    unsigned *n = ctx;
    put(" = ");
    assay_event_name(&t, c, &out);
    return ++*n < 3;
}

/* The event in every form there is. */
static void print_code(const struct assay_event_code *c)
{
    struct assay_event_perf p;
    unsigned answers = 0;
    put_hex(" ", c->code[0]);
    put_hex(" ", c->codes > 1 ? c->code[1] : 0);
    put_hex(" msr ", c->extra_msr);
    put_hex(" counters ", c->counters);
    put_hex(" named ", c->named);
    put(" ");
    assay_event_name(&t, c, &out);
    put(" ");
    assay_event_perf_string(&t, c, &out);
    assay_event_to_perf(&t, c, &p);
    put_hex(" type ", p.type);
    put_hex(" config ", p.config);
    put_hex(" ", p.config1);
    put_hex(" ", p.config2);
    put_hex(" period ", p.sample_period);
    put_hex(" bits ", (uint64_t)p.freq | (uint64_t)p.exclude_user << 1 | (uint64_t)p.exclude_kernel << 2 |
                          (uint64_t)p.exclude_hv << 3 | (uint64_t)p.exclude_host << 4 | (uint64_t)p.exclude_guest << 5 |
                          (uint64_t)p.pinned << 6 | (uint64_t)p.exclusive << 7 | (uint64_t)p.precise_ip << 8);
    assay_event_explain(&t, c->pmu, c->code, c->codes, print_answer, &answers);
}

static void print_event(const char *text, size_t n, unsigned mode)
{
    struct assay_event_code c;
    struct assay_event_error e;
    assay_out_bytes(&out, text, n);
    put_hex(" mode ", mode);
    if (assay_event_encode(&t, text, n, mode, 3, ASSAY_EVENT_NONE, &c, &e) == ASSAY_OK) {
        print_code(&c);
    } else {
        put(": ");
        assay_event_error_print(&t, text, &e, &out);
    }
    put("\n");
}

static const char *str(uint32_t offset) { return assay_event_str(&t, offset); }

static void print_with_modifiers(const char *event)
{
    static const char *const modifiers[] = {"",    ":u:c=7:i", ":e:c=1:k", ":thr=15:cmpl:e", ":precise=2:period=100",
                                            ":T:h"};
    char text[512];
    for (size_t m = 0; m < sizeof modifiers / sizeof *modifiers; m++) {
        int n = snprintf(text, sizeof text, "%s%s", event, modifiers[m]);
        print_event(text, (size_t)n, m % 2 ? ASSAY_EVENT_PERF_EXT : ASSAY_EVENT_STRICT);
        print_event(text, (size_t)n, ASSAY_EVENT_LIBPFM4);
    }
}

static void print_tables(void)
{
    char text[512];
    for (uint32_t p = 0; p < t.pmu_count; p++)
        for (uint32_t i = 0; i < t.pmus[p].events; i++) {
            const struct assay_event_row *e = &t.events[t.pmus[p].first_event + i];
            snprintf(text, sizeof text, "%s::%s", str(t.pmus[p].name), str(e->name));
            print_with_modifiers(text);
            for (uint32_t u = e->first_umask; u < e->first_umask + e->umasks; u++) {
                snprintf(text, sizeof text, "%s::%s:%s", str(t.pmus[p].name), str(e->name), str(t.umasks[u].name));
                print_with_modifiers(text);
            }
        }
}

static void print_writes(const struct assay_event_code *c, const struct assay_event_slot *slot, unsigned n)
{
    struct assay_event_write w[5 * 4 + 4];
    int writes = assay_event_writes(&t, c, slot, n, ASSAY_EVENT_WRITE_PMI, w, sizeof w / sizeof *w);
    for (int i = 0; i < writes; i++) {
        put_hex(" ", w[i].msr);
        put_hex("=", w[i].value);
    }
}

static void print_group(const struct assay_event_code *c, unsigned n)
{
    struct assay_event_slot slot[4];
    struct assay_event_group_error e;
    for (unsigned i = 0; i < n; i++) {
        assay_event_name(&t, &c[i], &out);
        put(" ");
    }
    if (assay_event_assign(&t, c, n, 0, slot, &e) == ASSAY_OK)
        print_writes(c, slot, n);
    else
        assay_event_group_error_print(&t, c, &e, &out);
    put("\n");
}

/* One to four neighbours in the tables, which often want the same counters. */
static void print_groups(void)
{
    struct assay_event_code c[4];
    unsigned wanted = 0;
    for (uint32_t p = 0; p < t.pmu_count; p++) {
        unsigned n = 0;
        for (uint32_t i = 0; i < t.pmus[p].events; i++) {
            const struct assay_event_row *e = &t.events[t.pmus[p].first_event + i];
            char text[512];
            int size = snprintf(text, sizeof text, "%s::%s%s%s", str(t.pmus[p].name), str(e->name),
                                e->umasks ? ":" : "", e->umasks ? str(t.umasks[e->first_umask].name) : "");
            n += assay_event_encode(&t, text, (size_t)size, 0, 3, ASSAY_EVENT_NONE, &c[n], NULL) == ASSAY_OK;
            if (n > wanted % 4) {
                print_group(c, n);
                n = 0;
                wanted++;
            }
        }
    }
}

static void run_machine(struct assay_machine_core *core)
{
    uint64_t state = 1, cycles = 0, tally[ASSAY_MACHINE_QUANTITIES] = {0};
    for (unsigned i = 0; i < 20000; i++) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        uint64_t ip = 0x401000 + (state >> 33) % 65536;
        cycles += assay_machine_block(core, ip, (uint32_t)(state >> 20) % 16 + 1, (uint32_t)(state >> 24) % 64 + 1);
        cycles += assay_machine_access(core, state >> 40, 8, state >> 63);
    }
    assay_machine_core_tally(core, tally);
    put_hex("cycles ", cycles);
    for (unsigned i = 0; i < ASSAY_MACHINE_QUANTITIES; i++)
        put_hex(" ", tally[i]);
    put("\n");
}

static void print_machine(void)
{
    static const char *const names[] = {"flat", "cache"};
    for (size_t i = 0; i < 2; i++) {
        struct assay_machine_model m;
        struct assay_machine_core *core;
        if (assay_machine_builtin(names[i], &m) != ASSAY_OK || assay_machine_core_new(&m, &core) != ASSAY_OK)
            continue;
        assay_machine_print(&m, &out);
        run_machine(core);
        assay_machine_core_free(core);
    }
}

static void print_packet(const struct assay_pt_packet *p)
{
    uint8_t bytes[ASSAY_PT_MAX_PACKET];
    struct assay_json j;
    assay_pt_print(p, &out);
    put(" |");
    int n = p->type == ASSAY_PT_GAP ? 0 : assay_pt_encode(p, bytes);
    for (int i = 0; i < n; i++) {
        put(" ");
        assay_out_hex0(&out, bytes[i], 2);
    }
    put("\n");
    assay_json_init(&j, &out);
    assay_pt_print_json(p, &j);
}

static void print_packets(const char *data, size_t size)
{
    struct assay_pt_decoder one, many;
    struct assay_pt_packet p, batch[128];
    assay_pt_decoder_init(&one, data, size, 0, false);
    while (assay_pt_decoder_next(&one, &p) == 1)
        print_packet(&p);
    assay_pt_decoder_init(&many, data, size, 0, true);
    for (size_t n; (n = assay_pt_decoder_batch(&many, batch, 128)) > 0;)
        for (size_t i = 0; i < n; i++)
            print_packet(&batch[i]);
    const struct assay_ledger *l = assay_pt_decoder_ledger(&one);
    put_hex("in ", l->in);
    put_hex(" decoded ", l->decoded);
    put_hex(" skipped ", assay_ledger_skipped(l));
    put("\n");
}

static int print_file(const char *what, const char *path)
{
    enum { ROOM = 1 << 13, TIMES = 8 }; /* short streams never reach the decoder's fast path */
    static char data[ROOM * TIMES];
    FILE *f = fopen(path, "rb");
    if (!f) {
        perror(path);
        return 1;
    }
    size_t size = fread(data, 1, ROOM, f);
    fclose(f);
    for (size_t i = 1; i < TIMES; i++)
        memcpy(data + i * size, data, size);
    if (strcmp(what, "packets") == 0)
        print_packets(data, TIMES * size);
    else
        print_event(data, size, ASSAY_EVENT_PERF_EXT);
    return 0;
}

int main(int argc, char **argv)
{
    char buffer[1 << 16];
    const char *what = argc > 1 ? argv[1] : "";
    int failed = 0;
    assay_event_builtin(&t);
    assay_out_init(&out, buffer, sizeof buffer, write_out, NULL);
    if (strcmp(what, "tables") == 0)
        print_tables();
    else if (strcmp(what, "groups") == 0)
        print_groups();
    else if (strcmp(what, "machine") == 0)
        print_machine();
    for (int i = 2; i < argc; i++)
        failed |= print_file(what, argv[i]);
    return assay_out_flush(&out) != 0 || failed;
}
