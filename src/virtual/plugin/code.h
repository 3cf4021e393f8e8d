/* SPDX-License-Identifier: MIT */
/* Inside of the plugin's knowledge of code: mappings of files. */
#ifndef ASSAY_PLUGIN_CODE_H
#define ASSAY_PLUGIN_CODE_H

#include "plugin.h"

struct region {
    uint64_t start, end, pgoff, inode;
    unsigned major, minor;
    const char *path;
    const uint8_t *content; /* the file's bytes from pgoff on */
    uint64_t content_size;
    bool gone; /* not there any more, but the recorder was not told */
    struct region *more;
};
struct region *region_at(uint64_t addr);
/* Cuts [from, to) out of all regions, keeping it as gone parts where asked. True when there was something. */
bool region_cut(uint64_t from, uint64_t to, bool keep_gone);
void region_add(const struct region *found);
/* The mapping of a readable file that the kernel has at addr. */
bool region_look_up(uint64_t addr, struct region *found);

#endif
