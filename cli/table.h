/* SPDX-License-Identifier: MIT */
/* What tables for people share: grouped numbers, percentages, bars, wrapped text. */
#ifndef ASSAY_CLI_TABLE_H
#define ASSAY_CLI_TABLE_H

#include "cli.h"

/* 1234567 as "1,234,567", right-aligned in width columns. */
void table_number(struct cli *c, uint64_t v, size_t width);
/* part of whole as "12.3 %", right-aligned in 7 columns; "n/a" when whole is 0. */
void table_share(struct cli *c, double part, double whole);
/* A bar of up to width columns for part of whole; padded to the width. Eighths of blocks where the locale is UTF-8. */
void table_bar(struct cli *c, double part, double whole, size_t width);
/* instructions / cycles with two decimals in 6 columns, "n/a" without cycles. */
void table_ipc(struct cli *c, uint64_t insns, double cycles);
/* Words of text in the columns from `indent` on, where the cursor stands, wrapped at the terminal's width; no newline after. */
void table_wrapped(struct cli *c, const char *text, size_t indent);
/* One field of RFC 4180: in quotes, with quotes doubled. NULL is empty. */
void table_csv(struct cli *c, const char *s);

#endif
