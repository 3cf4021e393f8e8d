/* SPDX-License-Identifier: MIT */
/* Encodes lines "MODE PLM STRING" for model.py: "ok CODE..." in hex, or "REASON COLUMN SIZE" in decimal. */
#include <assay/event.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void answer(const struct assay_event_table *t, const char *text, unsigned mode, unsigned plm)
{
    struct assay_event_code c;
    struct assay_event_error e = {0};
    if (assay_event_encode(t, text, strlen(text), mode, plm, ASSAY_EVENT_NONE, &c, &e) != ASSAY_OK) {
        printf("%u %u %u\n", e.reason, e.column, e.size);
        return;
    }
    printf("ok %" PRIx64, c.code[0]);
    if (c.codes > 1)
        printf(" %" PRIx64, c.code[1]);
    printf("\n");
}

int main(void)
{
    struct assay_event_table t;
    char line[2000], *text;
    assay_event_builtin(&t);
    while (fgets(line, sizeof line, stdin)) {
        line[strcspn(line, "\n")] = '\0';
        unsigned mode = (unsigned)strtoul(line, &text, 10), plm = (unsigned)strtoul(text, &text, 10);
        answer(&t, text + 1, mode, plm);
    }
    return 0;
}
