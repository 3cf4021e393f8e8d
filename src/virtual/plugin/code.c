/* SPDX-License-Identifier: MIT */
/* What code lies where: file mappings are told by name, everything else is copied when it is first translated, and again when
 * it is found changed. */
#include "plugin.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

enum { PAGE = 4096, BUCKETS = 1 << 12 };
/* How far the clock moves when code is replaced: beyond the end of any block that began before. Other threads run on meanwhile. */
enum { GAP_ALONE = 1 << 12, GAP_THREADS = 1 << 16, GAP_BEFORE = 64 };

/* A mapping of a file; only those that code ran in. */
struct region {
    uint64_t start, end, pgoff, inode;
    unsigned major, minor;
    char path[4096];
    const uint8_t *content; /* the file's bytes from pgoff on */
    uint64_t content_size;
    struct region *more;
};
static struct region *regions;

/* A page that code was translated from. */
struct page {
    uint64_t addr;
    bool dropped;          /* what was there is gone; what comes replaces it */
    struct region *region; /* NULL: no file */
    uint8_t *bytes;        /* what the recorder was told, where `known` is set; NULL while the file says it all */
    uint8_t known[PAGE / 8];
    struct page *more;
};
static struct page *bucket[BUCKETS];
static uint64_t lowest = UINT64_MAX, highest;

static struct page **bucket_of(uint64_t addr) { return &bucket[(addr / PAGE ^ addr >> 24) & (BUCKETS - 1)]; }

static struct page *find_page(uint64_t addr)
{
    struct page *p = *bucket_of(addr);
    while (p && p->addr != addr)
        p = p->more;
    return p;
}

static void drop_page(struct page *p)
{
    p->dropped = true;
    p->region = NULL;
    free(p->bytes);
    p->bytes = NULL;
    memset(p->known, 0, sizeof p->known);
}

static void free_region(struct region *r)
{
    if (r->content)
        munmap((void *)(uintptr_t)r->content, r->content_size);
    free(r);
}

/* A region that lost a part is forgotten: what remains of it is told anew when code there is translated again. */
static void drop_regions(uint64_t from, uint64_t to)
{
    for (struct region **at = &regions; *at;) {
        struct region *r = *at;
        if (r->start >= to || r->end <= from) {
            at = &r->more;
            continue;
        }
        *at = r->more;
        for (unsigned i = 0; i < BUCKETS; i++)
            for (struct page *p = bucket[i]; p; p = p->more)
                if (p->region == r)
                    drop_page(p);
        free_region(r);
    }
}

void code_dropped(uint64_t addr, uint64_t size)
{
    uint64_t from = addr / PAGE * PAGE, to = (addr + size + PAGE - 1) / PAGE * PAGE;
    pthread_mutex_lock(&process.lock);
    if (from < highest && to > lowest) {
        drop_regions(from, to);
        for (unsigned i = 0; i < BUCKETS; i++)
            for (struct page *p = bucket[i]; p; p = p->more)
                if (p->addr >= from && p->addr < to && !p->dropped)
                    drop_page(p);
    }
    pthread_mutex_unlock(&process.lock);
}

/* One line of /proc/self/maps that names a file. */
static bool parse_mapping(const char *line, struct region *r)
{
    int at = 0;
    unsigned long long start, end, pgoff, inode;
    if (sscanf(line, "%llx-%llx %*4s %llx %x:%x %llu %n", &start, &end, &pgoff, &r->major, &r->minor, &inode, &at) <
            6 ||
        at == 0)
        return false;
    r->start = start - process.guest_base;
    r->end = end - process.guest_base;
    r->pgoff = pgoff;
    r->inode = inode;
    snprintf(r->path, sizeof r->path, "%s", line + at);
    r->path[strcspn(r->path, "\n")] = '\0';
    return r->path[0] == '/';
}

/* QEMU changes protections page by page, which splits what the guest mapped as one. */
static bool continues(const struct region *r, const struct region *next)
{
    return next->start == r->end && next->inode == r->inode && next->major == r->major && next->minor == r->minor &&
           next->pgoff == r->pgoff + (r->end - r->start) && strcmp(next->path, r->path) == 0;
}

/* The file mapping that holds addr, as the kernel sees it. */
static bool look_up(uint64_t addr, struct region *found)
{
    static struct region next;
    static char line[4096 + 256];
    FILE *f = fopen("/proc/self/maps", "re");
    if (!f)
        return false;
    bool have = false;
    while (fgets(line, sizeof line, f)) {
        if (!parse_mapping(line, &next)) {
            if (have && found->end > addr)
                break;
            have = false;
        } else if (have && continues(found, &next)) {
            found->end = next.end;
        } else {
            if (have && found->end > addr)
                break;
            *found = next;
            have = true;
        }
        if (have && found->start > addr)
            break;
    }
    fclose(f);
    return have && found->start <= addr && addr < found->end;
}

static bool open_content(struct region *r)
{
    struct stat st;
    int fd = open(r->path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    if (fstat(fd, &st) == 0 && st.st_ino == r->inode && (uint64_t)st.st_size > r->pgoff) {
        r->content_size = r->end - r->start;
        if (r->content_size > (uint64_t)st.st_size - r->pgoff)
            r->content_size = (uint64_t)st.st_size - r->pgoff;
        void *p = mmap(NULL, r->content_size, PROT_READ, MAP_PRIVATE, fd, (off_t)r->pgoff);
        r->content = p == MAP_FAILED ? NULL : p;
    }
    close(fd);
    return r->content != NULL;
}

static uint32_t tid_here(void) { return thread_here ? thread_here->s.tid : process.pid; }

static uint64_t clock_here(void)
{
    uint64_t now = clock_furthest();
    if (thread_here && (thread_here->s.unit.cycles > now || !process.setup->streams))
        return thread_here->s.unit.cycles;
    return now;
}

static void tell_mapping(const struct region *r, uint64_t when)
{
    struct assay_spool_mmap m = {.addr = r->start,
                                 .len = r->end - r->start,
                                 .pgoff = r->pgoff,
                                 .inode = r->inode,
                                 .major = r->major,
                                 .minor = r->minor};
    event_put(ASSAY_SPOOL_MMAP, tid_here(), when, &m, sizeof m, r->path, strlen(r->path) + 1);
}

static struct region *region_of(uint64_t addr, uint64_t when)
{
    static struct region found;
    for (struct region *r = regions; r; r = r->more)
        if (r->start <= addr && addr < r->end)
            return r;
    if (!look_up(addr, &found) || !open_content(&found))
        return NULL;
    struct region *r = malloc(sizeof *r);
    if (!r)
        abort();
    *r = found;
    r->more = regions;
    regions = r;
    tell_mapping(r, when);
    return r;
}

static struct page *new_page(uint64_t addr)
{
    struct page *p = calloc(1, sizeof *p);
    if (!p)
        abort();
    p->addr = addr;
    p->more = *bucket_of(addr);
    *bucket_of(addr) = p;
    lowest = addr < lowest ? addr : lowest;
    highest = addr + PAGE > highest ? addr + PAGE : highest;
    return p;
}

/* The page's bytes as the recorder knows them become our copy, where only the file had them. */
static void own_bytes(struct page *p)
{
    if (p->bytes)
        return;
    p->bytes = calloc(1, PAGE);
    if (!p->bytes)
        abort();
    const struct region *r = p->region;
    uint64_t at = r ? p->addr - r->start : 0;
    if (!r || at >= r->content_size)
        return;
    uint64_t n = r->content_size - at < PAGE ? r->content_size - at : PAGE;
    memcpy(p->bytes, r->content + at, n);
    memset(p->known, 0xff, sizeof p->known);
}

enum news { NEWS_NONE, NEWS_MORE, NEWS_CHANGED };

static bool file_says(const struct page *p, unsigned at, const uint8_t *bytes, unsigned n)
{
    const struct region *r = p->region;
    uint64_t from = r ? p->addr - r->start + at : 0;
    return !p->bytes && r && from + n <= r->content_size && memcmp(r->content + from, bytes, n) == 0;
}

/* Compares bytes [at, at + n) of the page with what is known of them, and learns them. */
static enum news learn(struct page *p, unsigned at, const uint8_t *bytes, unsigned n)
{
    if (file_says(p, at, bytes, n))
        return NEWS_NONE;
    own_bytes(p);
    enum news news = NEWS_NONE;
    for (unsigned i = 0; i < n; i++) {
        unsigned k = at + i;
        bool known = p->known[k / 8] >> k % 8 & 1;
        if (known && p->bytes[k] == bytes[i])
            continue;
        news = known ? NEWS_CHANGED : news == NEWS_NONE ? NEWS_MORE : news;
        p->bytes[k] = bytes[i];
        p->known[k / 8] |= (uint8_t)(1u << k % 8);
    }
    return news;
}

/* Bytes of one page. True when they replace others. *when is set for what is told. */
static bool note_piece(uint64_t ip, const uint8_t *bytes, unsigned n, uint64_t now, uint64_t after, uint64_t *since)
{
    uint64_t addr = ip / PAGE * PAGE;
    struct page *p = find_page(addr);
    bool replaced = p && p->dropped;
    if (!p)
        p = new_page(addr);
    if (!p->region && !p->bytes)
        p->region = region_of(addr, replaced ? after - GAP_BEFORE : now);
    p->dropped = false;
    enum news news = learn(p, (unsigned)(ip - addr), bytes, n);
    replaced = replaced || news == NEWS_CHANGED;
    if (news != NEWS_NONE) {
        struct assay_spool_code c = {.addr = ip};
        event_put(ASSAY_SPOOL_CODE, tid_here(), replaced ? after - GAP_BEFORE : now, &c, sizeof c, bytes, n);
        *since = now;
    }
    if (replaced)
        *since = after;
    return replaced;
}

struct code_age code_note(uint64_t ip, const uint8_t *bytes, size_t size)
{
    uint64_t now = clock_here();
    uint64_t after = now + (process.setup->streams > 1 ? GAP_THREADS : GAP_ALONE);
    struct code_age age = {0};
    while (size > 0) {
        unsigned n = (unsigned)(PAGE - ip % PAGE);
        n = n < size ? n : (unsigned)size;
        age.replaced |= note_piece(ip, bytes, n, now, after, &age.since);
        ip += n;
        bytes += n;
        size -= n;
    }
    return age;
}
