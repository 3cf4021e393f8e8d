/* SPDX-License-Identifier: MIT */
/* Streaming JSON, one object a line. */
#include <assay/text.h>

#include <assert.h>
#include <string.h>

void assay_json_init(struct assay_json *j, struct assay_out *o) { *j = (struct assay_json){.o = o}; }

static void put_escaped(struct assay_out *o, unsigned char c)
{
    switch (c) {
    case '"':
        assay_out_str(o, "\\\"");
        break;
    case '\\':
        assay_out_str(o, "\\\\");
        break;
    case '\n':
        assay_out_str(o, "\\n");
        break;
    case '\t':
        assay_out_str(o, "\\t");
        break;
    case '\r':
        assay_out_str(o, "\\r");
        break;
    default:
        assay_out_str(o, "\\u00");
        assay_out_hex0(o, c, 2);
    }
}

/* Length of the well-formed UTF-8 sequence at s[0..n), 0 when there is none (Unicode 15, table 3-7). */
static size_t utf8_length(const unsigned char *s, size_t n)
{
    unsigned char c = s[0];
    size_t need = c < 0x80 ? 1 : c >= 0xc2 && c < 0xe0 ? 2 : c >= 0xe0 && c < 0xf0 ? 3 : c >= 0xf0 && c < 0xf5 ? 4 : 0;
    if (need == 0 || need > n)
        return 0;
    for (size_t i = 1; i < need; i++)
        if ((s[i] & 0xc0) != 0x80)
            return 0;
    if ((c == 0xe0 && s[1] < 0xa0) || (c == 0xed && s[1] >= 0xa0) || (c == 0xf0 && s[1] < 0x90) ||
        (c == 0xf4 && s[1] >= 0x90))
        return 0;
    return need;
}

static void put_string(struct assay_out *o, const char *text, size_t n)
{
    const unsigned char *s = (const unsigned char *)text;
    assay_out_char(o, '"');
    for (size_t i = 0; i < n;) {
        size_t len = utf8_length(s + i, n - i);
        if (len == 0) {
            assay_out_str(o, "\xef\xbf\xbd");
            i++;
        } else if (len == 1 && (s[i] < 0x20 || s[i] == '"' || s[i] == '\\' || s[i] == 0x7f)) {
            put_escaped(o, s[i++]);
        } else {
            assay_out_bytes(o, text + i, len);
            i += len;
        }
    }
    assay_out_char(o, '"');
}

static void begin_value(struct assay_json *j, const char *key)
{
    if (j->depth > 0) {
        uint64_t bit = UINT64_C(1) << j->depth;
        if (j->more & bit)
            assay_out_char(j->o, ',');
        j->more |= bit;
    }
    if (key) {
        put_string(j->o, key, strlen(key));
        assay_out_char(j->o, ':');
    }
}

static void enter(struct assay_json *j, const char *key, char c)
{
    begin_value(j, key);
    assay_out_char(j->o, c);
    assert(j->depth < 63);
    j->depth++;
    j->more &= ~(UINT64_C(1) << j->depth);
}

static void leave(struct assay_json *j, char c)
{
    assert(j->depth > 0);
    assay_out_char(j->o, c);
    if (--j->depth == 0)
        assay_out_char(j->o, '\n');
}

void assay_json_open(struct assay_json *j, const char *key) { enter(j, key, '{'); }
void assay_json_close(struct assay_json *j) { leave(j, '}'); }
void assay_json_array(struct assay_json *j, const char *key) { enter(j, key, '['); }
void assay_json_array_end(struct assay_json *j) { leave(j, ']'); }

void assay_json_str(struct assay_json *j, const char *key, const char *v)
{
    if (v)
        assay_json_strn(j, key, v, strlen(v));
    else
        assay_json_null(j, key);
}

void assay_json_strn(struct assay_json *j, const char *key, const char *v, size_t n)
{
    begin_value(j, key);
    put_string(j->o, v, n);
}

void assay_json_u64(struct assay_json *j, const char *key, uint64_t v)
{
    bool quote = v > UINT64_C(1) << 53;
    begin_value(j, key);
    if (quote)
        assay_out_char(j->o, '"');
    assay_out_dec(j->o, v);
    if (quote)
        assay_out_char(j->o, '"');
}

void assay_json_s64(struct assay_json *j, const char *key, int64_t v)
{
    bool quote = v > INT64_C(1) << 53 || v < -(INT64_C(1) << 53);
    begin_value(j, key);
    if (quote)
        assay_out_char(j->o, '"');
    assay_out_sdec(j->o, v);
    if (quote)
        assay_out_char(j->o, '"');
}

void assay_json_addr(struct assay_json *j, const char *key, uint64_t v)
{
    begin_value(j, key);
    assay_out_str(j->o, "\"0x");
    assay_out_hex(j->o, v);
    assay_out_char(j->o, '"');
}

void assay_json_bool(struct assay_json *j, const char *key, bool v)
{
    begin_value(j, key);
    assay_out_str(j->o, v ? "true" : "false");
}

void assay_json_fixed(struct assay_json *j, const char *key, double v, unsigned decimals)
{
    if (!(v == v) || v >= 1.8e19 || v <= -1.8e19) { /* JSON has no NaN and no infinity */
        assay_json_null(j, key);
        return;
    }
    begin_value(j, key);
    assay_out_fixed(j->o, v, decimals);
}

void assay_json_null(struct assay_json *j, const char *key)
{
    begin_value(j, key);
    assay_out_str(j->o, "null");
}
