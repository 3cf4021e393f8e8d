/* SPDX-License-Identifier: MIT */
/* Damage at random. */
#include "damage.h"

#include <stdlib.h>
#include <string.h>

static void splice(struct trace *t, size_t at, size_t remove, const uint8_t *insert, size_t n)
{
    uint8_t *data = malloc(t->size - remove + n + 1);
    if (!data)
        abort();
    memcpy(data, t->data, at);
    memcpy(data + at, insert, n);
    memcpy(data + at + n, t->data + at + remove, t->size - at - remove);
    free(t->data);
    t->data = data;
    t->size = t->size - remove + n;
}

enum { TIP_BITS = 0x0d, PGE_BITS = 0x11, PGD_BITS = 0x01, FUP_BITS = 0x1d };

/* Packets that belong together: bytes, then IP packets to random addresses, then bytes. */
static const struct group {
    const char *before;
    size_t before_n;
    uint8_t ip[2];
    const char *after;
    size_t after_n;
} groups[] = {
#define GROUP(before, after, ...)                                                                                      \
    {                                                                                                                  \
        before, sizeof(before) - 1, {__VA_ARGS__}, after, sizeof(after) - 1                                            \
    }
#define PSB_BYTES "\x02\x82\x02\x82\x02\x82\x02\x82\x02\x82\x02\x82\x02\x82\x02\x82"
    GROUP("", "", FUP_BITS, 0),
    GROUP("", "", TIP_BITS, 0),
    GROUP("", "", PGE_BITS, 0),
    GROUP("", "", PGD_BITS, 0),
    GROUP("", "", FUP_BITS, TIP_BITS),
    GROUP("", "", FUP_BITS, PGD_BITS),
    GROUP("", "", PGD_BITS, PGE_BITS),
    GROUP("\x02\xf3", "", 0, 0), /* OVF */
    GROUP("\x02\xf3", "", FUP_BITS, 0),
    GROUP("\x02\xf3", "", PGE_BITS, 0),
    GROUP(PSB_BYTES, "\x02\x23", 0, 0), /* PSB+ */
    GROUP(PSB_BYTES, "\x02\x23", FUP_BITS, 0),
    GROUP(PSB_BYTES, "\x99\x01\x02\x23", FUP_BITS, 0),
    GROUP("\x99\x01", "", TIP_BITS, 0), /* MODE.Exec */
    GROUP("\x99\x02", "", TIP_BITS, 0),
    GROUP("\x99\x02", "", PGE_BITS, 0),
    GROUP("\x99\x21", "", FUP_BITS, 0), /* MODE.TSX */
    GROUP("\x99\x22", "", FUP_BITS, TIP_BITS),
    GROUP("\x02\x92\x01\x02\x03\x04", "", FUP_BITS, 0),                          /* PTW */
    GROUP("\x02\x13\x81\x0e", "", FUP_BITS, 0),                                  /* CFE */
    GROUP("\x02\x53\x00\x01\x02\x03\x04\x05\x06\x07\x08", "", 0, 0),             /* EVD */
    GROUP("\x02\x83", "", 0, 0),                                                 /* TraceStop */
    GROUP("\x02\x62", "", 0, 0),                                                 /* EXSTOP */
    GROUP("\x02\xe2", "", FUP_BITS, 0),                                          /* EXSTOP with IP */
    GROUP("\x02\xc2\x01\x02\x03\x04\x05\x06\x07\x08", "", 0, 0),                 /* MWAIT */
    GROUP("\x02\xa2\x01\x02\x03\x04\x05", "", 0, 0),                             /* PWRX */
    GROUP("\x02\x63\x01\x14\x01\x02\x03\x04\x05\x06\x07\x08\x02\x33", "", 0, 0), /* BBP, BIP, BEP */
    GROUP("\x02\x63\x81\x1c\x01\x02\x03\x04", "", 0, 0),                         /* BBP, BIP of 4 bytes, no BEP */
    GROUP("\x02\x43\x21\x43\x65\x00\x00\x00", "", 0, 0),                         /* PIP */
    GROUP("\x02\xc8\x01\x02\x03\x04\x05", "", 0, 0),                             /* VMCS */
    GROUP("\xd9\x00\x01", "", 0, 0),                                             /* TRIG */
    GROUP("\x02\xc3\x88\x01\x02\x03\x04\x05\x06\x07\x08", "", 0, 0),             /* MNT */
    GROUP("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x0e", "", 0, 0),                 /* CYC of 64 bits */
#undef GROUP
#undef PSB_BYTES
};

static size_t put_ip(struct random *r, const struct text *text, uint8_t *p, unsigned low)
{
    uint64_t ip =
        random_below(r, 2) ? text->entry[random_below(r, text->entries)] : text->address + random_below(r, text->size);
    unsigned form = random_below(r, 8) == 0 ? 0 : 3, bytes = form ? 6 : 0;
    p[0] = (uint8_t)(low | form << 5);
    for (unsigned i = 0; i < bytes; i++)
        p[1 + i] = (uint8_t)(ip >> 8 * i);
    return 1 + bytes;
}

static size_t put_tnt(struct random *r, uint8_t *p)
{
    p[0] = (uint8_t)(4 + 2 * random_below(r, 126));
    if (random_below(r, 4))
        return 1;
    memcpy(p, "\x02\xa3", 2);
    for (unsigned i = 2; i < 8; i++)
        p[i] = (uint8_t)random_next(r);
    return 8;
}

static size_t put_packets(struct random *r, const struct text *text, uint8_t *p)
{
    if (random_below(r, 8) == 0)
        return put_tnt(r, p);
    const struct group *g = &groups[random_below(r, sizeof groups / sizeof *groups)];
    size_t n = g->before_n;
    memcpy(p, g->before, n);
    for (unsigned i = 0; i < 2 && g->ip[i]; i++)
        n += put_ip(r, text, p + n, g->ip[i]);
    memcpy(p + n, g->after, g->after_n);
    return n + g->after_n;
}

void damage(struct trace *t, const struct text *text, struct random *r)
{
    uint8_t bytes[64];
    struct packets all = packets_of(t->data, t->size, 0);
    if (all.n == 0) /* the damage before this one hit the only PSB */
        return;
    const struct packet *p = &all.at[random_below(r, all.n)];
    size_t at = random_below(r, t->size), n;
    switch (random_below(r, 8)) {
    case 0:
        t->data[at] ^= (uint8_t)(1u << random_below(r, 8));
        break;
    case 1:
        t->data[at] = (uint8_t)random_next(r);
        break;
    case 2: /* a packet less */
        splice(t, p->offset, p->size, bytes, 0);
        break;
    case 3: /* a piece less */
        n = random_below(r, 40);
        splice(t, at, n < t->size - at ? n : t->size - at, bytes, 0);
        break;
    case 4: /* cut off */
        t->size = at;
        break;
    default: /* packets more, or for another */
        n = put_packets(r, text, bytes);
        splice(t, p->offset, random_below(r, 2) ? p->size : 0, bytes, n);
        break;
    }
    free(all.at);
}
