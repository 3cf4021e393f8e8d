/* SPDX-License-Identifier: MIT */
/* The events of -e options. */
#include "stat.h"

#include "base/table.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static int say_where(struct cli *c, const char *text, const struct assay_diag *d)
{
    return cli_fail(c, CLI_USAGE, "-e %s, column %" PRIu64 ": %s; expected %s", text, d->offset + 1, d->what,
                    d->expected);
}

int stat_list_add(struct cli *c, struct stat_list *l, const char *text)
{
    struct assay_event_list in;
    struct assay_event_item item;
    struct assay_diag d;
    int got;
    assay_event_list_init(&in, text, strlen(text), l->groups);
    while ((got = assay_event_list_next(&in, &item, &d)) > 0) {
        if (!table_grow(&l->event, &l->room, l->events + 1, sizeof *l->event))
            return cli_fail(c, CLI_CANNOT, "out of memory");
        l->event[l->events++] = item;
    }
    l->groups = in.groups;
    return got < 0 ? say_where(c, text, &d) : CLI_OK;
}

int stat_list_fail(const struct cli *c, const struct assay_event_item *item, uint64_t offset, int status,
                   const char *text)
{
    for (int i = 0; i < c->givens; i++) {
        const char *list = c->given[i].option->id == STAT_EVENT ? c->given[i].value : NULL;
        if (list && (uintptr_t)item->text - (uintptr_t)list < strlen(list))
            return cli_fail(c, status, "-e %s, column %" PRIu64 ": %s", list,
                            (uint64_t)(item->text - list) + offset + 1, text);
    }
    return cli_fail(c, status, "%.*s: %s", (int)item->size, item->text, text);
}

void stat_list_free(struct stat_list *l)
{
    free(l->event);
    *l = (struct stat_list){0};
}
