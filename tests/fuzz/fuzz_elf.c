/* SPDX-License-Identifier: MIT */
/* Any bytes as the binary that code and names come from: code stays inside of it, and symbols cover what they say. */
#include <assay/image.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { BASE = 0x400000, PID = 1, PLACES = 64 };

static void must(bool sound, const char *complaint)
{
    if (sound)
        return;
    fprintf(stderr, "%s\n", complaint);
    abort();
}

static void check_symbol(struct assay_image *im, uint32_t dso, uint64_t addr)
{
    struct assay_symbol s;
    if (assay_image_symbol(im, dso, addr, &s) != ASSAY_OK)
        return;
    must(s.name && strlen(s.name) > 0, "a symbol without a name");
    must(addr >= s.start && addr - s.start < s.size, "a symbol that does not hold the address");
    must(s.id < assay_dso_symbols(im, dso), "a symbol's number is too large");
}

static void read_code(struct assay_image *im, struct assay_view *v, size_t size, const uint8_t *data)
{
    for (size_t i = 0; i < PLACES; i++) {
        size_t at = i * size / PLACES;
        struct assay_code code;
        if (assay_view_code(v, BASE + at, &code) != ASSAY_OK)
            continue;
        must(code.size > 0 && code.size <= size - at && memcmp(code.bytes, data + at, code.size) == 0, "other code");
        check_symbol(im, code.dso, code.dso_addr);
    }
    for (uint64_t addr = 0; addr < 0x3000; addr += 16) {
        check_symbol(im, 0, addr);
        check_symbol(im, 0, BASE + addr);
    }
}

static void use_file(const char *path, const uint8_t *data, size_t size)
{
    struct assay_image *im;
    struct assay_view *v = NULL;
    must(assay_image_new(&im, NULL) == ASSAY_OK, "no image");
    must(assay_image_map(im, PID, 0, BASE, size, 0, path, NULL, 0) == ASSAY_OK, "no map");
    must(assay_image_seal(im) == ASSAY_OK && assay_view_new(im, PID, &v) == ASSAY_OK, "no view");
    read_code(im, v, size, data);
    assay_view_free(v);
    assay_image_free(im);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char path[32];
    int fd = memfd_create("fuzz", 0);
    if (fd < 0 || write(fd, data, size) != (ssize_t)size)
        abort();
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    if (size > 0)
        use_file(path, data, size);
    close(fd);
    return 0;
}
