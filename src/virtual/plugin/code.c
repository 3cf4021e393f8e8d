/* SPDX-License-Identifier: MIT */
/* What code the recorder knows: file mappings are told by name; everything else is copied when it is first translated, and again
 * where it is found to differ from what was told before. */
#include "code.h"

#include <stdlib.h>
#include <string.h>

enum { PAGE = 4096, BUCKETS = 1 << 12 };
/* How far the clock moves when code is replaced: beyond the end of any block that began before. Other threads run on meanwhile. */
enum { GAP_ALONE = 1 << 12, GAP_THREADS = 1 << 16, GAP_BEFORE = 64 };

/* A page whose bytes were told one by one, at least some of them. */
struct page {
    uint64_t addr;
    bool dropped; /* the guest unmapped it: a file may be there now */
    uint8_t bytes[PAGE], known[PAGE / 8];
    struct page *more;
};
static struct page *bucket[BUCKETS];

/* A piece of code within a page, and when it came. */
struct piece {
    uint64_t ip;
    const uint8_t *bytes;
    unsigned n;
    uint64_t now, after; /* the clock; where it goes when code is replaced */
    bool told, replaced;
};

static struct page **bucket_of(uint64_t addr) { return &bucket[(addr / PAGE ^ addr >> 24) & (BUCKETS - 1)]; }

static struct page **find_page(uint64_t addr)
{
    struct page **at = bucket_of(addr);
    while (*at && (*at)->addr != addr)
        at = &(*at)->more;
    return at;
}

/* Calls f on every page of [from, to); f may free it. */
static void each_page(uint64_t from, uint64_t to, void (*f)(struct page **at))
{
    if ((to - from) / PAGE < BUCKETS) {
        for (uint64_t addr = from; addr < to; addr += PAGE)
            if (*find_page(addr))
                f(find_page(addr));
        return;
    }
    for (unsigned i = 0; i < BUCKETS; i++)
        for (struct page **at = &bucket[i], *p; (p = *at);) {
            if (p->addr >= from && p->addr < to)
                f(at);
            if (*at == p)
                at = &p->more;
        }
}

static void drop_page(struct page **at) { (*at)->dropped = true; }

static void free_page(struct page **at)
{
    struct page *p = *at;
    *at = p->more;
    free(p);
}

void code_dropped(uint64_t addr, uint64_t size)
{
    uint64_t from = addr / PAGE * PAGE, to = (addr + size + PAGE - 1) / PAGE * PAGE;
    pthread_mutex_lock(&process.lock);
    region_cut(from, to, true);
    each_page(from, to, drop_page);
    pthread_mutex_unlock(&process.lock);
}

static uint32_t tid_here(void) { return thread_here ? thread_here->s.tid : process.pid; }

static uint64_t clock_here(void)
{
    uint64_t now = clock_furthest();
    return thread_here && thread_here->s.unit.cycles > now ? thread_here->s.unit.cycles : now;
}

static uint64_t when_told(const struct piece *c) { return c->replaced ? c->after - GAP_BEFORE : c->now; }

/* From now on the recorder knows that the file is there, and nothing of what was there before. */
static void tell_mapping(const struct region *r, struct piece *c)
{
    struct assay_spool_mmap m = {.addr = r->start,
                                 .len = r->end - r->start,
                                 .pgoff = r->pgoff,
                                 .inode = r->inode,
                                 .major = r->major,
                                 .minor = r->minor};
    c->replaced |= region_cut(r->start, r->end, false);
    region_add(r);
    each_page(r->start, r->end, free_page);
    c->told = true;
    event_put(ASSAY_SPOOL_MMAP, tid_here(), when_told(c), &m, sizeof m, r->path, strlen(r->path) + 1);
}

/* A page to tell byte by byte, which begins as what the recorder believes to be there. */
static struct page *new_page(uint64_t addr, const struct region *believed)
{
    struct page *p = calloc(1, sizeof *p);
    if (!p)
        abort();
    p->addr = addr;
    p->more = *bucket_of(addr);
    *bucket_of(addr) = p;
    uint64_t at = believed ? addr - believed->start : 0;
    if (believed && at < believed->content_size) {
        uint64_t n = believed->content_size - at;
        memcpy(p->bytes, believed->content + at, n < PAGE ? n : PAGE);
        memset(p->known, 0xff, sizeof p->known);
    }
    return p;
}

static bool file_says(const struct region *r, const struct piece *c)
{
    uint64_t at = c->ip - r->start;
    return at + c->n <= r->content_size && memcmp(r->content + at, c->bytes, c->n) == 0;
}

/* Tells the bytes unless they are known as they are. */
static void tell_bytes(struct page *p, struct piece *c)
{
    bool differ = false, unknown = false;
    for (unsigned i = 0, k = (unsigned)(c->ip % PAGE); i < c->n; i++, k++) {
        uint8_t bit = (uint8_t)(1u << k % 8);
        if (!(p->known[k / 8] & bit))
            unknown = true;
        else if (p->bytes[k] != c->bytes[i])
            differ = true;
        p->bytes[k] = c->bytes[i];
        p->known[k / 8] |= bit;
    }
    c->replaced |= differ;
    if (!differ && !unknown)
        return;
    c->told = true;
    struct assay_spool_code head = {.addr = c->ip};
    event_put(ASSAY_SPOOL_CODE, tid_here(), when_told(c), &head, sizeof head, c->bytes, c->n);
}

static void note_piece(struct piece *c)
{
    static struct region found;
    uint64_t addr = c->ip / PAGE * PAGE;
    struct page *p = *find_page(addr);
    const struct region *r = region_at(addr);
    if (p ? p->dropped : !r || r->gone) {
        c->replaced |= p != NULL;
        if (region_look_up(c->ip, &found)) {
            tell_mapping(&found, c);
            r = region_at(addr);
            p = NULL;
        } else {
            c->replaced = false; /* the bytes will tell */
        }
    }
    if (p)
        p->dropped = false;
    else if (r && !r->gone && file_says(r, c))
        return;
    tell_bytes(p ? p : new_page(addr, r), c);
}

struct code_age code_note(uint64_t ip, const uint8_t *bytes, size_t size)
{
    uint64_t now = clock_here();
    uint64_t after = now + (process.setup->streams > 1 ? GAP_THREADS : GAP_ALONE);
    struct code_age age = {0};
    while (size > 0) {
        unsigned room = (unsigned)(PAGE - ip % PAGE), n = room < size ? room : (unsigned)size;
        struct piece c = {.ip = ip, .bytes = bytes, .n = n, .now = now, .after = after};
        note_piece(&c);
        uint64_t since = c.replaced ? after : c.told ? now : 0;
        age.replaced |= c.replaced;
        age.since = since > age.since ? since : age.since;
        ip += n;
        bytes += n;
        size -= n;
    }
    return age;
}
