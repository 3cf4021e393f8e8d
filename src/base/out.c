/* SPDX-License-Identifier: MIT */
/* Streaming text into a caller's buffer. */
#include <assay/text.h>

#include <string.h>

void assay_out_init(struct assay_out *o, char *buf, size_t cap, int (*empty)(void *, const char *, size_t), void *ctx)
{
    *o = (struct assay_out){.buf = buf, .cap = cap, .empty = empty, .ctx = ctx};
}

int assay_out_flush(struct assay_out *o)
{
    if (o->empty && o->len > 0) {
        if (!o->failed)
            o->failed = o->empty(o->ctx, o->buf, o->len);
        o->len = 0;
    }
    return o->failed;
}

void assay_out_bytes(struct assay_out *o, const char *s, size_t n)
{
    while (n > o->cap - o->len) {
        size_t part = o->cap - o->len;
        memcpy(o->buf + o->len, s, part);
        o->len += part;
        if (!o->empty) {
            o->cut = true;
            return;
        }
        s += part;
        n -= part;
        assay_out_flush(o);
    }
    memcpy(o->buf + o->len, s, n);
    o->len += n;
}

void assay_out_str(struct assay_out *o, const char *s) { assay_out_bytes(o, s, strlen(s)); }

void assay_out_clean(struct assay_out *o, const char *s)
{
    for (; *s; s++)
        assay_out_char(o, (unsigned char)*s < 0x20 || *s == 0x7f ? '?' : *s);
}

void assay_out_char(struct assay_out *o, char c)
{
    if (o->len < o->cap)
        o->buf[o->len++] = c;
    else
        assay_out_bytes(o, &c, 1);
}

void assay_out_fill(struct assay_out *o, char c, size_t n)
{
    for (; n > 0; n--)
        assay_out_char(o, c);
}

/* Digits of v into the end of buf[20]; the first one. */
static char *dec_digits(uint64_t v, char *end)
{
    do {
        *--end = (char)('0' + v % 10);
        v /= 10;
    } while (v);
    return end;
}

void assay_out_dec(struct assay_out *o, uint64_t v)
{
    char buf[20], *p = dec_digits(v, buf + sizeof buf);
    assay_out_bytes(o, p, (size_t)(buf + sizeof buf - p));
}

void assay_out_sdec(struct assay_out *o, int64_t v)
{
    if (v < 0)
        assay_out_char(o, '-');
    assay_out_dec(o, v < 0 ? 0 - (uint64_t)v : (uint64_t)v);
}

void assay_out_hex0(struct assay_out *o, uint64_t v, unsigned digits)
{
    char buf[16];
    if (digits > 16)
        digits = 16;
    for (unsigned i = digits; i-- > 0; v >>= 4)
        buf[i] = "0123456789abcdef"[v & 15];
    assay_out_bytes(o, buf, digits);
}

void assay_out_hex(struct assay_out *o, uint64_t v)
{
    unsigned digits = 1;
    while (digits < 16 && v >> 4 * digits)
        digits++;
    assay_out_hex0(o, v, digits);
}

void assay_out_fixed(struct assay_out *o, double v, unsigned decimals)
{
    static const uint64_t power[] = {1, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000, 1000000000};
    if (decimals > 9)
        decimals = 9;
    if (!(v == v)) {
        assay_out_str(o, "nan");
        return;
    }
    if (v < 0) {
        assay_out_char(o, '-');
        v = -v;
    }
    if (v >= 9e9) { /* beyond what scaled 64-bit arithmetic holds for every count of decimals */
        if (v >= 1.8e19)
            assay_out_str(o, "inf");
        else
            assay_out_dec(o, (uint64_t)v);
        return;
    }
    uint64_t scaled = (uint64_t)(v * (double)power[decimals] + 0.5);
    assay_out_dec(o, scaled / power[decimals]);
    if (decimals == 0)
        return;
    assay_out_char(o, '.');
    char buf[20], *end = buf + sizeof buf, *p = dec_digits(scaled % power[decimals], end);
    assay_out_fill(o, '0', decimals - (size_t)(end - p));
    assay_out_bytes(o, p, (size_t)(end - p));
}

/* Display columns: UTF-8 continuation bytes take none. */
static size_t columns(const char *s)
{
    size_t n = 0;
    for (; *s; s++)
        n += (*s & 0xc0) != 0x80;
    return n;
}

void assay_out_right(struct assay_out *o, const char *s, size_t width)
{
    size_t n = columns(s);
    if (n < width)
        assay_out_fill(o, ' ', width - n);
    assay_out_str(o, s);
}

void assay_out_left(struct assay_out *o, const char *s, size_t width)
{
    size_t n = columns(s);
    assay_out_str(o, s);
    if (n < width)
        assay_out_fill(o, ' ', width - n);
}

void assay_out_dec_right(struct assay_out *o, uint64_t v, size_t width)
{
    char buf[20], *end = buf + sizeof buf, *p = dec_digits(v, end);
    size_t n = (size_t)(end - p);
    if (n < width)
        assay_out_fill(o, ' ', width - n);
    assay_out_bytes(o, p, n);
}
