/* SPDX-License-Identifier: MIT */
/* Streaming writers of text and JSON into a caller's buffer that a function empties. No allocation, no locale, no stdio. */
#ifndef ASSAY_TEXT_H
#define ASSAY_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The buffer is the caller's. `empty` gets the full buffer and returns 0 or an errno value; the first failure is kept in
 * `failed`, later output is dropped. With empty == NULL the text is cut at cap and `cut` is set. */
struct assay_out {
    char *buf;
    size_t len, cap;
    int (*empty)(void *ctx, const char *data, size_t size);
    void *ctx;
    int failed;
    bool cut;
};

void assay_out_init(struct assay_out *o, char *buf, size_t cap, int (*empty)(void *, const char *, size_t), void *ctx);
int assay_out_flush(struct assay_out *o); /* 0 or the kept errno value */
void assay_out_bytes(struct assay_out *o, const char *s, size_t n);
void assay_out_str(struct assay_out *o, const char *s);
/* Text from a file, for a terminal: control characters, which could move the cursor or worse, become '?'. */
void assay_out_clean(struct assay_out *o, const char *s);
void assay_out_char(struct assay_out *o, char c);
void assay_out_fill(struct assay_out *o, char c, size_t n);
void assay_out_dec(struct assay_out *o, uint64_t v);
void assay_out_sdec(struct assay_out *o, int64_t v);
void assay_out_hex(struct assay_out *o, uint64_t v);                    /* no prefix, no leading zeros */
void assay_out_hex0(struct assay_out *o, uint64_t v, unsigned digits);  /* zero padded */
void assay_out_fixed(struct assay_out *o, double v, unsigned decimals); /* locale independent, decimals <= 9 */
/* Right- or left-aligned in width columns (display columns of UTF-8 text are counted, not bytes). */
void assay_out_right(struct assay_out *o, const char *s, size_t width);
void assay_out_left(struct assay_out *o, const char *s, size_t width);
void assay_out_dec_right(struct assay_out *o, uint64_t v, size_t width);

/* Levenshtein distance of two words; words over 63 bytes count as far (UINT_MAX). For "did you mean". */
unsigned assay_edit_distance(const char *a, const char *b);

/* JSON: one object a line. Key NULL inside arrays. Strings that are not UTF-8 get U+FFFD for each bad byte.
 * Integers beyond 2^53 are written as strings of decimal digits, addresses always as "0x..." strings. */
struct assay_json {
    struct assay_out *o;
    uint32_t depth;
    uint64_t more; /* bit d: something stands before in level d, a comma is due */
};
void assay_json_init(struct assay_json *j, struct assay_out *o);
void assay_json_open(struct assay_json *j, const char *key);  /* { */
void assay_json_close(struct assay_json *j);                  /* }, and a newline at depth 0 */
void assay_json_array(struct assay_json *j, const char *key); /* [ */
void assay_json_array_end(struct assay_json *j);              /* ] */
void assay_json_str(struct assay_json *j, const char *key, const char *v);
void assay_json_strn(struct assay_json *j, const char *key, const char *v, size_t n);
void assay_json_u64(struct assay_json *j, const char *key, uint64_t v);
void assay_json_s64(struct assay_json *j, const char *key, int64_t v);
void assay_json_addr(struct assay_json *j, const char *key, uint64_t v);
void assay_json_bool(struct assay_json *j, const char *key, bool v);
void assay_json_fixed(struct assay_json *j, const char *key, double v, unsigned decimals);
void assay_json_null(struct assay_json *j, const char *key);

#endif
