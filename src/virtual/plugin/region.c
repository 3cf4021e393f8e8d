/* SPDX-License-Identifier: MIT */
/* Mappings of files that code ran in, as the recorder was told of them. It is never told that one went away: a part that the guest
 * unmapped stays as `gone`, for that is what the recorder still believes to be there. */
#include "code.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static struct region *regions;

struct region *region_at(uint64_t addr)
{
    struct region *r = regions;
    while (r && !(r->start <= addr && addr < r->end))
        r = r->more;
    return r;
}

/* A copy of r for [start, end), a part of it. */
static void add_part(const struct region *r, uint64_t start, uint64_t end, bool gone)
{
    struct region *part = start < end ? malloc(sizeof *part) : NULL;
    if (!part)
        return;
    uint64_t skip = start - r->start;
    *part = *r;
    part->start = start;
    part->end = end;
    part->pgoff += skip;
    part->content += skip < r->content_size ? skip : r->content_size;
    part->content_size -= skip < r->content_size ? skip : r->content_size;
    part->gone = gone;
    part->more = regions;
    regions = part;
}

static uint64_t max_u64(uint64_t a, uint64_t b) { return a > b ? a : b; }
static uint64_t min_u64(uint64_t a, uint64_t b) { return a < b ? a : b; }

bool region_cut(uint64_t from, uint64_t to, bool keep_gone)
{
    bool any = false;
    struct region *cut = NULL;
    for (struct region **at = &regions; *at;) {
        struct region *r = *at;
        if (r->start >= to || r->end <= from) {
            at = &r->more;
            continue;
        }
        *at = r->more;
        r->more = cut;
        cut = r;
        any = true;
    }
    while (cut) {
        struct region *r = cut;
        cut = r->more;
        add_part(r, r->start, from, r->gone);
        add_part(r, to, r->end, r->gone);
        if (keep_gone)
            add_part(r, max_u64(r->start, from), min_u64(r->end, to), true);
        free(r);
    }
    return any;
}

void region_add(const struct region *found) { add_part(found, found->start, found->end, false); }

/* One line of /proc/self/maps that names a file. */
static bool parse_mapping(const char *line, struct region *r, char *path, size_t path_size)
{
    int at = 0;
    unsigned long long start, end, pgoff, inode;
    if (sscanf(line, "%llx-%llx %*4s %llx %x:%x %llu %n", &start, &end, &pgoff, &r->major, &r->minor, &inode, &at) <
            6 ||
        at == 0 || line[at] != '/')
        return false;
    r->start = start - process.guest_base;
    r->end = end - process.guest_base;
    r->pgoff = pgoff;
    r->inode = inode;
    snprintf(path, path_size, "%s", line + at);
    path[strcspn(path, "\n")] = '\0';
    return true;
}

/* QEMU changes protections page by page, which splits what the guest mapped as one. */
static bool continues(const struct region *r, const struct region *next)
{
    return next->start == r->end && next->inode == r->inode && next->major == r->major && next->minor == r->minor &&
           next->pgoff == r->pgoff + (r->end - r->start);
}

/* The file mapping that holds addr, as the kernel has it. */
static bool find_mapping(FILE *maps, uint64_t addr, struct region *found, char *path, size_t path_size)
{
    static char line[8192], name[4096];
    struct region next;
    bool have = false;
    while (fgets(line, sizeof line, maps)) {
        bool file = parse_mapping(line, &next, name, sizeof name);
        if (file && have && continues(found, &next)) {
            found->end = next.end;
            continue;
        }
        if (have && found->end > addr)
            break;
        have = file;
        if (file) {
            *found = next;
            snprintf(path, path_size, "%s", name);
        }
    }
    return have && found->start <= addr && addr < found->end;
}

static bool open_content(struct region *r, const char *path)
{
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    void *p = MAP_FAILED;
    if (fstat(fd, &st) == 0 && st.st_ino == r->inode && (uint64_t)st.st_size > r->pgoff) {
        r->content_size = min_u64(r->end - r->start, (uint64_t)st.st_size - r->pgoff);
        p = mmap(NULL, r->content_size, PROT_READ, MAP_PRIVATE, fd, (off_t)r->pgoff);
    }
    close(fd);
    if (p == MAP_FAILED)
        return false;
    r->content = p;
    return true;
}

bool region_look_up(uint64_t addr, struct region *found)
{
    static char path[4096];
    *found = (struct region){0};
    FILE *maps = fopen("/proc/self/maps", "re");
    if (!maps)
        return false;
    bool have = find_mapping(maps, addr, found, path, sizeof path);
    fclose(maps);
    if (!have || !open_content(found, path))
        return false;
    found->path = strdup(path);
    return found->path;
}
