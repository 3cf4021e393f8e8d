/* SPDX-License-Identifier: MIT */
/* Inside of the reader of event files: texts with positions, elements, fields, rows, the growing tables. */
#ifndef ASSAY_FILE_EVENT_JSON_PRIV_H
#define ASSAY_FILE_EVENT_JSON_PRIV_H

#include <assay/event_json.h>
#include <jansson.h>

enum { EJ_PMU_NAME = 48, EJ_LISTED = 4, EJ_MODELS = 64 };

/* A PMU in the making. */
struct ej_pmu {
    char name[EJ_PMU_NAME];
    uint32_t desc, kernel_pmu;
    struct assay_event_row *rows;
    struct assay_event_facts *facts; /* of each row */
    uint32_t n, cap;
    uint16_t *slots; /* of the table that is made: row + 1, or 0 */
    uint32_t slot_mask;
    uint32_t model[EJ_MODELS];
    uint32_t models;
};

struct assay_event_json {
    struct assay_event_table table;
    struct assay_event_facts *facts; /* of the rows after those of the base */
    uint32_t base_pmus, base_events;
    struct assay_event_json_sums sums;
    char **warning;
    uint32_t warnings;
    /* In the making; the table's arrays afterwards. */
    struct assay_event_table base;
    char *pool;
    uint32_t pool_size, pool_cap;
    struct ej_pmu *pmus;
    uint32_t pmu_n;
    uint64_t bytes; /* of all files */
};

/* ---- a file's text (event_json_text.c) ---- */

struct ej_text {
    struct assay_event_json *j;
    struct assay_error *e;
    char *name; /* its path */
    char *text;
    size_t size;
    size_t mark, mark_line, mark_start; /* a position, its line from 1, and where that begins */
};

/* Reads a file into t->text, to be freed with ej_text_free. */
int ej_text_read(struct ej_text *t, struct assay_event_json *j, const char *path, struct assay_error *e);
/* Takes over a copy of the bytes. */
int ej_text_copy(struct ej_text *t, struct assay_event_json *j, const char *name, const void *data, size_t size,
                 struct assay_error *e);
void ej_text_free(struct ej_text *t);
/* Later positions are counted from here; `at` does not go back. */
void ej_text_mark(struct ej_text *t, size_t at);
/* "file:line:column: ..." as the error, or as a warning; what fails to be kept for want of memory is ASSAY_E_MEMORY. */
int ej_fail(struct ej_text *t, size_t at, int code, const char *fmt, ...) __attribute__((format(printf, 4, 5)));
int ej_warn(struct ej_text *t, size_t at, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
int ej_memory(struct assay_error *e);

/* ---- elements (event_json_scan.c) ---- */

struct ej_scan {
    struct ej_text *t;
    size_t at;
    bool inside;    /* of the array */
    bool object;    /* the file is an object with an array "Events", not the array alone */
    bool first;     /* element */
    json_t *header; /* owned; NULL */
};

int ej_scan_begin(struct ej_scan *s, struct ej_text *t);
void ej_scan_end(struct ej_scan *s);
/* 1 and *element (to be released) that begins at *at; 0 at the end of the file; < 0 with the error. */
int ej_scan_next(struct ej_scan *s, json_t **element, size_t *at);
/* Where the value of a key of the object at `at` begins; `at` itself when it is not found. */
size_t ej_scan_key(const struct ej_text *t, size_t at, const char *key);

/* ---- fields (event_json_field.c) ---- */

enum ej_string { EJ_NAME, EJ_BRIEF, EJ_LONG, EJ_ERRATA, EJ_UNIT, EJ_STRINGS };
enum ej_list { EJ_CODE, EJ_UMASK, EJ_MSR, EJ_LISTS };
enum ej_number {
    EJ_UMASK_EXT,
    EJ_CMASK,
    EJ_INVERT,
    EJ_EDGE,
    EJ_ANY,
    EJ_EQUAL,
    EJ_MSR_VALUE,
    EJ_PEBS,
    EJ_PRECISE,
    EJ_SAMPLE,
    EJ_DEPRECATED,
    EJ_ALONE,
    EJ_ADDRESS,
    EJ_NUMBERS
};
enum ej_counters { EJ_COUNTER, EJ_COUNTER_HT_OFF, EJ_COUNTER_PEBS, EJ_COUNTER_PDIST, EJ_COUNTERS };

struct ej_fields {
    const char *string[EJ_STRINGS]; /* of the element; NULL: not there */
    uint64_t list[EJ_LISTS][EJ_LISTED];
    unsigned listed[EJ_LISTS]; /* 0 to EJ_LISTED */
    uint64_t number[EJ_NUMBERS];
    bool numbered[EJ_NUMBERS]; /* there */
    uint64_t counters[EJ_COUNTERS];
};

/* 1: *f is filled. 0: no event of a core, or one that was left out with a warning. < 0: no memory. */
int ej_fields_read(struct ej_text *t, json_t *element, size_t at, struct ej_fields *f);

/* ---- rows (event_json_row.c) ---- */

/* The row and the facts without their strings. 1, 0 when the event was left out with a warning, or < 0. */
int ej_row_make(struct ej_text *t, size_t at, const struct ej_fields *f, struct assay_event_row *row,
                struct assay_event_facts *facts);

/* ---- tables (event_json_table.c) ---- */

/* The offset of a copy of s in the pool, in *offset; 0 for NULL and "". Control characters become blanks. */
int ej_pool_add(struct assay_event_json *j, const char *s, uint32_t *offset, struct assay_error *e);
struct ej_pmu *ej_pmu_find(struct assay_event_json *j, const char *name); /* NULL when it is not there */
/* The PMU of that name, made when it is not there. */
int ej_pmu_get(struct assay_event_json *j, const char *name, struct ej_pmu **p, struct assay_error *e);
/* False when there are too many. */
bool ej_pmu_model(struct ej_pmu *p, uint32_t model);
/* Adds a row whose name is in the pool. 1, 0 when there is one of this name (then *other is its row), or < 0. */
int ej_pmu_add(struct assay_event_json *j, struct ej_pmu *p, const struct assay_event_row *row,
               const struct assay_event_facts *facts, struct assay_error *e);
/* All rows behind those of the base; what they were made in is freed. */
int ej_table_finish(struct assay_event_json *j, struct assay_error *e);
void ej_table_free(struct assay_event_json *j);

/* ---- files (event_json.c) ---- */

/* All events of a file into the PMU `name`; those of units cpu_core and cpu_atom into "name-core" and "name-atom". */
int ej_load_file(struct assay_event_json *j, const char *path, const char *name, struct assay_error *e);
/* All files of a directory into one PMU. */
int ej_load_folder(struct assay_event_json *j, const char *path, const char *name, struct assay_error *e);
/* A name for the PMU of a file: "/SKX/events/skylakex_core.json" is "skx". role may be NULL. */
void ej_name_of(const char *path, const char *role, char name[EJ_PMU_NAME]);

/* ---- mapfile.csv (event_json_map.c) ---- */

int ej_map_load(struct assay_event_json *j, const char *folder, struct assay_error *e);

#endif
