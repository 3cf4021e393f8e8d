/* SPDX-License-Identifier: MIT */
/* The same execution told in other packets. */
#include "rewrite.h"

#include <stdlib.h>
#include <string.h>

enum { LONGEST_TNT = 47, MOST_TIPS = 8 };

struct writer {
    struct random *random;
    uint8_t *out;
    size_t n;
    uint64_t last_ip; /* as the reader of the output has it */
    /* branch outcomes held back, and the TIPs of branches between them */
    uint64_t bits;
    unsigned bits_n, longest;
    uint64_t tip[MOST_TIPS];
    unsigned tips;
};

static void put(struct writer *w, const void *bytes, size_t n)
{
    memcpy(w->out + w->n, bytes, n);
    w->n += n;
}

static void put_byte(struct writer *w, unsigned byte) { w->out[w->n++] = (uint8_t)byte; }

static void put_value(struct writer *w, uint64_t value, unsigned bytes)
{
    for (unsigned i = 0; i < bytes; i++)
        put_byte(w, value >> 8 * i & 0xff);
}

/* In any form that gives the address. */
static void put_ip(struct writer *w, unsigned low, uint64_t ip)
{
    static const unsigned bytes_of[8] = {0, 2, 4, 6, 6, 0, 8, 0};
    static const unsigned forms[] = {1, 2, 3, 4, 6};
    for (;;) {
        unsigned form = forms[random_below(w->random, 5)];
        unsigned shift = form == 1 ? 16 : form == 2 ? 32 : 48;
        bool fits =
            form == 6 || (form == 3 ? (uint64_t)((int64_t)(ip << 16) >> 16) == ip : ip >> shift == w->last_ip >> shift);
        if (!fits)
            continue;
        put_byte(w, low | form << 5);
        put_value(w, ip, bytes_of[form]);
        w->last_ip = ip;
        return;
    }
}

/* What was held back: outcomes first, then the TIPs in order. */
static void release(struct writer *w)
{
    if (w->bits_n > 6) {
        put(w, "\x02\xa3", 2);
        put_value(w, w->bits | UINT64_C(1) << w->bits_n, 6);
    } else if (w->bits_n > 0) {
        put_byte(w, (unsigned)(w->bits | UINT64_C(1) << w->bits_n) << 1);
    }
    for (unsigned i = 0; i < w->tips; i++)
        put_ip(w, 0x0d, w->tip[i]);
    w->bits = w->bits_n = w->tips = 0;
    w->longest = random_below(w->random, 2) ? 6 : LONGEST_TNT;
}

static void on_tnt(struct writer *w, const struct packet *p)
{
    if (w->bits_n + p->count > w->longest || random_below(w->random, 16) == 0)
        release(w);
    w->bits = w->bits << p->count | p->value;
    w->bits_n += p->count;
}

/* A TIP can be put off only behind outcomes that are held, and never that of a return, which would then look
 * compressed. */
static bool can_wait(const struct recording *rec, const struct packet *p)
{
    for (size_t i = 0; i < rec->jumps; i++)
        if (p->offset >= rec->jump[i].from && p->offset < rec->jump[i].to)
            return true;
    return false;
}

static void on_tip(struct writer *w, const struct recording *rec, const struct packet *p)
{
    bool wait = w->bits_n > 0 && w->tips < MOST_TIPS && can_wait(rec, p) && random_below(w->random, 4);
    if (!wait)
        release(w);
    if (wait)
        w->tip[w->tips++] = p->ip;
    else
        put_ip(w, 0x0d, p->ip);
}

static void on_packet(struct writer *w, const struct recording *rec, const struct packet *p)
{
    if (p->kind == TNT) {
        on_tnt(w, p);
        return;
    }
    if (p->kind == TIP && p->has_ip) {
        on_tip(w, rec, p);
        return;
    }
    release(w);
    if (random_below(w->random, 8) == 0)
        put_byte(w, 0);
    if ((p->kind == TIP_PGE || p->kind == FUP || p->kind == TIP_PGD) && p->has_ip) {
        put_ip(w, rec->data[p->offset] & 0x1f, p->ip);
        return;
    }
    put(w, rec->data + p->offset, p->size);
    if (p->kind == PSB || p->kind == OVF)
        w->last_ip = 0;
}

uint8_t *rewrite(const struct recording *rec, struct random *random, size_t *size)
{
    struct packets all = packets_of(rec->data, rec->size, 0);
    struct writer w = {.random = random, .out = malloc(rec->size * 10 + 64), .longest = 6};
    if (!w.out)
        abort();
    for (size_t i = 0; i < all.n; i++)
        on_packet(&w, rec, &all.at[i]);
    release(&w);
    free(all.at);
    *size = w.n;
    return w.out;
}
