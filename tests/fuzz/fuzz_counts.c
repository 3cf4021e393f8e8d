/* SPDX-License-Identifier: MIT */
/* Any bytes as a list of events, on a machine whose PMU describes itself by any bytes: the first line of the input is a format
 * and a named event of that PMU, the rest is the list. Every event or error lies in the list. */
#include <assay/count.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char root[] = "/tmp/assay-fuzz-XXXXXX";

static void must(bool sound, const char *complaint)
{
    if (sound)
        return;
    fprintf(stderr, "%s\n", complaint);
    abort();
}

static void write_file(const char *name, const void *text, size_t size)
{
    char path[256];
    snprintf(path, sizeof path, "%s%s", root, name);
    for (char *slash = strchr(path + strlen(root) + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        mkdir(path, 0700);
        *slash = '/';
    }
    int fd = open(path, O_CREAT | O_WRONLY | O_TRUNC, 0600);
    must(fd >= 0 && write(fd, text, size) == (ssize_t)size, "the folder cannot be written");
    close(fd);
}

static void drop_machine(void)
{
    char command[64];
    snprintf(command, sizeof command, "rm -r %s", root);
    must(system(command) == 0, "the folder cannot be removed");
}

static void make_machine(void)
{
    static bool made;
    if (made)
        return;
    made = mkdtemp(root) != NULL;
    must(made, "no folder");
    atexit(drop_machine);
    write_file("/sys/bus/event_source/devices/cpu/type", "4\n", 2);
    write_file("/sys/bus/event_source/devices/cpu/format/event", "config:0-7,32-35\n", 17);
    write_file("/sys/kernel/tracing/events/s/t/id", "7\n", 2);
}

static bool knights_mill(uint32_t leaf, uint32_t subleaf, uint32_t reg[4])
{
    (void)subleaf;
    memcpy(&reg[1], "GenuntelineI", 12);
    reg[0] = leaf == 1 ? 0x80650 : 0;
    return true;
}

static void resolve(const struct assay_event_item *item, const char *list, size_t n)
{
    static const struct assay_sys machine = {.root = root, .cpuid = knights_mill};
    struct assay_event_table t;
    struct assay_count_event event;
    struct assay_error e = {0};
    must(item->text >= list && item->text + item->size <= list + n && item->size > 0, "an event outside of the list");
    must(!item->modifiers_size || (item->modifiers > list && item->modifiers + item->modifiers_size <= list + n),
         "modifiers outside of the list");
    assay_event_builtin(&t);
    int r = assay_count_resolve(&machine, &t, item, &event, &e);
    must(r == ASSAY_OK ? event.scale > 0 : *e.text && item->text + e.offset <= list + n,
         "an error outside of the list");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const uint8_t *line = memchr(data, '\n', size);
    size_t first = line ? (size_t)(line - data) : 0, n = line ? size - first - 1 : size;
    const char *list = (const char *)data + size - n;
    struct assay_event_list l;
    struct assay_event_item item;
    struct assay_diag d;
    int got;
    make_machine();
    write_file("/sys/bus/event_source/devices/cpu/format/x", data, first);
    write_file("/sys/bus/event_source/devices/cpu/events/e", data, first);
    write_file("/sys/bus/event_source/devices/cpu/events/e.scale", data, first);
    write_file("/sys/bus/event_source/devices/cpu/cpumask", data, first);
    assay_event_list_init(&l, list, n, 0);
    while ((got = assay_event_list_next(&l, &item, &d)) > 0)
        resolve(&item, list, n);
    must(got == 0 || (d.what && d.expected && d.offset <= n), "an error outside of the list");
    return 0;
}
