/* SPDX-License-Identifier: MIT */
/* What can happen to a trace: bits flipped, pieces and packets lost, packets that nobody wrote. */
#ifndef DAMAGE_H
#define DAMAGE_H

#include "walker.h"

struct trace {
    uint8_t *data; /* from malloc */
    size_t size;
};

void damage(struct trace *t, const struct text *text, struct random *random);

#endif
