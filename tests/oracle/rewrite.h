/* SPDX-License-Identifier: MIT */
/* The same execution told in other packets: what processors may write and the virtual trace unit does not. */
#ifndef REWRITE_H
#define REWRITE_H

#include "walker.h"

/* Branch outcomes joined into longer packets, up to TNT-64; TIPs put off behind them; addresses in other forms of
 * compression; padding. Returns new bytes, which the caller frees. */
uint8_t *rewrite(const struct recording *rec, struct random *random, size_t *size);

#endif
