/* SPDX-License-Identifier: MIT */
/* Making one run from code bytes. */
#ifndef ASSAY_SRC_FLOW_RUN_H
#define ASSAY_SRC_FLOW_RUN_H

#include <stdint.h>

struct assay_flow;
/* A new run from ip on in the present space and mode: its link, or LINK_NONE where no instruction can be read. */
uint32_t flow_make_run(struct assay_flow *f, uint64_t ip);

#endif
