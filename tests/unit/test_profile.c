/* SPDX-License-Identifier: MIT */
/* A profile of a program of six instructions whose counts, cycles, calls and edges were worked out by hand. */
#include <assay/image.h>
#include <assay/profile.h>
#include <assay/pt.h>

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <cmocka.h>

/* main: call leaf; dec rcx; jnz main; jmp *rax      leaf: nop; nop; ret */
static const uint8_t main_code[] = {0xe8, 0xfb, 0, 0, 0, 0x48, 0xff, 0xc9, 0x75, 0xf6, 0xff, 0xe0};
static const uint8_t leaf_code[] = {0x90, 0x90, 0xc3};
enum { MAIN = 0x1000, LEAF = 0x1100 };

struct stream {
    uint8_t bytes[256];
    size_t size;
};

static void put(struct stream *s, struct assay_pt_packet p)
{
    int n = assay_pt_encode(&p, s->bytes + s->size);
    assert_true(n > 0);
    s->size += (size_t)n;
}

static void put_ip(struct stream *s, uint8_t type, uint64_t ip)
{
    struct assay_pt_packet p = {.type = type};
    if (ip) {
        p.ip.payload = ip;
        p.ip.ipbytes = 6;
    }
    put(s, p);
}

static void put_tnt(struct stream *s, uint64_t cycles, uint64_t bits, uint8_t count)
{
    put(s, (struct assay_pt_packet){.type = ASSAY_PT_CYC, .cyc = {cycles}});
    put(s, (struct assay_pt_packet){.type = ASSAY_PT_TNT, .tnt = {bits, count}});
}

static void begin_stream(struct stream *s, uint64_t ip)
{
    put(s, (struct assay_pt_packet){.type = ASSAY_PT_PSB});
    put(s, (struct assay_pt_packet){.type = ASSAY_PT_PSBEND});
    put(s, (struct assay_pt_packet){.type = ASSAY_PT_MODE_EXEC, .exec = {.cs_l = true}});
    put_ip(s, ASSAY_PT_TIP_PGE, ip);
}

/* Two rounds of the loop, then the jump to leaf, then tracing goes off. The first branch of each TNT is leaf's return. */
static struct stream make_stream(void)
{
    struct stream s = {.size = 0};
    begin_stream(&s, MAIN);
    put_tnt(&s, 10, 3, 2); /* returned, looped */
    put_tnt(&s, 20, 2, 2); /* returned, fell through */
    put(&s, (struct assay_pt_packet){.type = ASSAY_PT_CYC, .cyc = {5}});
    put_ip(&s, ASSAY_PT_TIP, LEAF);
    put(&s, (struct assay_pt_packet){.type = ASSAY_PT_CYC, .cyc = {7}});
    put_ip(&s, ASSAY_PT_TIP_PGD, 0);
    return s;
}

static struct assay_image *make_image(void)
{
    struct assay_image *im;
    assert_int_equal(assay_image_new(&im, NULL), ASSAY_OK);
    assert_int_equal(assay_image_code(im, 1, 0, MAIN, main_code, sizeof main_code, "main"), ASSAY_OK);
    assert_int_equal(assay_image_code(im, 1, 0, LEAF, leaf_code, sizeof leaf_code, "leaf"), ASSAY_OK);
    assert_int_equal(assay_image_seal(im), ASSAY_OK);
    return im;
}

static void profile_stream(struct assay_image *im, struct assay_profile *p, const struct stream *s)
{
    struct assay_view *v;
    struct assay_flow *f;
    struct assay_flow_config c = {.mode = 64};
    size_t used;
    assert_int_equal(assay_view_new(im, 1, &v), ASSAY_OK);
    assert_int_equal(assay_flow_new(&c, v, assay_profile_add, p, &f), ASSAY_OK);
    assert_int_equal(assay_flow_feed(f, s->bytes, s->size, true, &used), ASSAY_OK);
    assert_int_equal(assay_profile_stream_end(p), ASSAY_OK);
    assay_flow_free(f);
    assay_view_free(v);
}

static struct assay_profile *make_profile(struct assay_image *im)
{
    struct assay_profile *p;
    assert_int_equal(assay_profile_new(im, ASSAY_PROFILE_TREE | ASSAY_PROFILE_EDGES, &p), ASSAY_OK);
    return p;
}

static size_t find_function(const struct assay_profile *p, const char *name)
{
    for (size_t i = 0; i < assay_profile_functions(p); i++)
        if (strcmp(assay_profile_function(p, i)->name, name) == 0)
            return i;
    fail_msg("no function %s", name);
    return 0;
}

static void expect(const struct assay_profile_counts *k, uint64_t insns, double cycles, uint64_t calls)
{
    assert_int_equal(k->insns, insns);
    assert_int_equal(k->timed, insns); /* every instruction here stands between two exact times */
    assert_true(fabs(k->cycles - cycles) < 1e-9);
    assert_int_equal(k->calls, calls);
}

/* cycles: 10 over call+nop+nop+ret; 20 over dec+jnz+call+nop+nop+ret; 5 over dec+jnz+jmp; 7 over nop+nop+ret. */
static void expect_functions(const struct assay_profile *p, unsigned times)
{
    expect(&assay_profile_function(p, find_function(p, "main"))->self, 7 * times, 17.5 * times, times);
    expect(&assay_profile_function(p, find_function(p, "leaf"))->self, 9 * times, 24.5 * times, 3 * times);
    assert_int_equal(assay_profile_totals(p)->counts.insns, 16 * times);
    assert_true(fabs(assay_profile_totals(p)->counts.cycles - 42 * times) < 1e-9);
}

static void expect_tree(struct assay_profile *p, unsigned times)
{
    assert_int_equal(assay_profile_finish(p), ASSAY_OK);
    assert_int_equal(assay_profile_nodes(p), 4); /* root; main; leaf below main; leaf in main's place */
    const struct assay_profile_node *root = assay_profile_node(p, 0), *top = assay_profile_node(p, root->first_child);
    const struct assay_profile_node *below = assay_profile_node(p, top->first_child);
    const struct assay_profile_node *tail = assay_profile_node(p, top->next_sibling);
    assert_int_equal(top->function, find_function(p, "main"));
    assert_int_equal(below->function, find_function(p, "leaf"));
    assert_int_equal(tail->function, find_function(p, "leaf"));
    assert_int_equal(below->self.calls, 2 * times);
    assert_int_equal(tail->self.calls, times);
    assert_int_equal(top->total.insns, 13 * times);
    assert_int_equal(tail->total.insns, 3 * times);
    assert_int_equal(root->total.insns, 16 * times);
    assert_true(fabs(below->total.cycles - 17.5 * times) < 1e-9);
    assert_true(fabs(tail->total.cycles - 7 * times) < 1e-9);
}

static void expect_edges(const struct assay_profile *p, unsigned times)
{
    static const struct {
        uint64_t from, to, count;
        uint8_t kind;
        bool taken;
    } want[] = {
        {MAIN, LEAF, 2, ASSAY_INSN_CALL, true},         {LEAF + 2, MAIN + 5, 2, ASSAY_INSN_RET, true},
        {MAIN + 8, MAIN, 1, ASSAY_INSN_COND, true},     {MAIN + 8, MAIN + 10, 1, ASSAY_INSN_COND, false},
        {MAIN + 10, LEAF, 1, ASSAY_INSN_JMP_IND, true},
    };
    enum { WANT = sizeof want / sizeof *want };
    assert_int_equal(assay_profile_edges(p), WANT);
    for (size_t i = 0; i < WANT; i++) {
        size_t n = 0;
        while (n < WANT &&
               (assay_profile_edge(p, n)->from != want[i].from || assay_profile_edge(p, n)->to != want[i].to))
            n++;
        assert_true(n < WANT);
        assert_int_equal(assay_profile_edge(p, n)->count, want[i].count * times);
        assert_int_equal(assay_profile_edge(p, n)->kind, want[i].kind);
        assert_int_equal(assay_profile_edge(p, n)->taken, want[i].taken);
    }
}

static void counts_cycles_calls_tree_and_edges(void **state)
{
    (void)state;
    struct assay_image *im = make_image();
    struct assay_profile *p = make_profile(im);
    struct stream s = make_stream();
    profile_stream(im, p, &s);
    expect_functions(p, 1);
    expect_tree(p, 1);
    expect_edges(p, 1);
    assay_profile_free(p);
    assay_image_free(im);
}

/* A function in two halves: outer calls split, whose branch goes to split.cold, which jumps back into split's midst; from there
 * leaf is called. */
static const uint8_t outer_code[] = {0xe8, 0xfb, 0xef, 0xff, 0xff, 0xff, 0xe0}; /* 0x3000: call split; jmp *rax */
static const uint8_t split_code[] = {0x0f, 0x85, 0xfa, 0,    0,    0,
                                     0xe8, 0xf5, 0xf0, 0xff, 0xff, 0xc3}; /* jnz cold; call leaf; ret */
static const uint8_t cold_code[] = {0x90, 0xe9, 0x00, 0xff, 0xff, 0xff};  /* 0x2100: nop; jmp split + 6 */
enum { OUTER = 0x3000, SPLIT = 0x2000, COLD = 0x2100 };

static const struct assay_profile_node *find_node(const struct assay_profile *p, const char *name)
{
    for (size_t i = 1; i < assay_profile_nodes(p); i++)
        if (assay_profile_node(p, i)->function == find_function(p, name))
            return assay_profile_node(p, i);
    fail_msg("no node %s", name);
    return NULL;
}

static void a_split_function_keeps_its_place_in_the_tree(void **state)
{
    (void)state;
    struct assay_image *im;
    assert_int_equal(assay_image_new(&im, NULL), ASSAY_OK);
    assert_int_equal(assay_image_code(im, 1, 0, OUTER, outer_code, sizeof outer_code, "outer"), ASSAY_OK);
    assert_int_equal(assay_image_code(im, 1, 0, SPLIT, split_code, sizeof split_code, "split"), ASSAY_OK);
    assert_int_equal(assay_image_code(im, 1, 0, COLD, cold_code, sizeof cold_code, "split.cold"), ASSAY_OK);
    assert_int_equal(assay_image_code(im, 1, 0, LEAF, leaf_code, sizeof leaf_code, "leaf"), ASSAY_OK);
    assert_int_equal(assay_image_seal(im), ASSAY_OK);
    struct stream s = {.size = 0};
    begin_stream(&s, OUTER);
    put_tnt(&s, 1, 7, 3); /* to the cold half; leaf returned; split returned */
    put_ip(&s, ASSAY_PT_TIP_PGD, 0);
    struct assay_profile *p = make_profile(im);
    profile_stream(im, p, &s);
    assert_int_equal(assay_profile_finish(p), ASSAY_OK);
    assert_int_equal(assay_profile_totals(p)->gaps, 0);
    assert_int_equal(assay_profile_totals(p)->counts.insns, 10);
    const struct assay_profile_node *outer = find_node(p, "outer"), *split = find_node(p, "split");
    const struct assay_profile_node *cold = find_node(p, "split.cold"), *leaf = find_node(p, "leaf");
    assert_int_equal(outer->parent, 0);
    assert_ptr_equal(assay_profile_node(p, split->parent), outer);
    assert_ptr_equal(assay_profile_node(p, cold->parent), outer);
    assert_ptr_equal(assay_profile_node(p, leaf->parent), split);
    assert_int_equal(split->self.insns, 3);
    assert_int_equal(split->total.insns, 6);
    assert_int_equal(outer->self.insns, 2);
    assert_int_equal(split->self.calls, 1);
    assay_profile_free(p);
    assay_image_free(im);
}

static void two_streams_add_up_together_or_merged(void **state)
{
    (void)state;
    struct assay_image *im = make_image();
    struct assay_profile *together = make_profile(im), *merged = make_profile(im);
    struct stream s = make_stream();
    for (int i = 0; i < 2; i++) {
        struct assay_profile *one = make_profile(im);
        profile_stream(im, together, &s);
        profile_stream(im, one, &s);
        assert_int_equal(assay_profile_merge(merged, one), ASSAY_OK);
        assay_profile_free(one);
    }
    expect_functions(together, 2);
    expect_functions(merged, 2);
    expect_tree(together, 2);
    expect_tree(merged, 2);
    expect_edges(together, 2);
    expect_edges(merged, 2);
    assay_profile_free(together);
    assay_profile_free(merged);
    assay_image_free(im);
}

/* With room for root and main only, what leaf does is main's, and the root's where it takes main's place; with room for one edge the others are left out; and functions are the
 * same when runs are folded before each batch. */
static void limits_fold_what_is_beyond_them(void **state)
{
    (void)state;
    struct assay_image *im = make_image();
    struct stream s = make_stream();
    struct assay_profile *p = make_profile(im);
    assay_profile_limit(p, 2, 1, 1);
    profile_stream(im, p, &s);
    profile_stream(im, p, &s);
    assert_int_equal(assay_profile_finish(p), ASSAY_OK);
    assert_int_equal(assay_profile_nodes(p), 2);
    assert_int_equal(assay_profile_edges(p), 1);
    const struct assay_profile_totals *t = assay_profile_totals(p);
    assert_int_equal(assay_profile_node(p, 0)->total.insns, 32);
    assert_int_equal(assay_profile_node(p, 1)->total.insns, 26);
    assert_int_equal(assay_profile_node(p, 1)->self.calls, 2);
    assert_int_equal(t->folded, 6); /* two calls and a jump to leaf, twice */
    assert_int_equal(t->edges_left_out + assay_profile_edge(p, 0)->count, 14);
    assay_profile_free(p);
    assay_image_free(im);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_cycles_calls_tree_and_edges),
        cmocka_unit_test(a_split_function_keeps_its_place_in_the_tree),
        cmocka_unit_test(two_streams_add_up_together_or_merged),
        cmocka_unit_test(limits_fold_what_is_beyond_them),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
