/* SPDX-License-Identifier: MIT */
/* Two libraries with the interface of libpfm 4, asked the same and compared field by field. */
#ifndef ASSAY_TESTS_PEER_LIBPFM_SIDES_H
#define ASSAY_TESTS_PEER_LIBPFM_SIDES_H

#include <stdbool.h>

#include <perfmon/pfmlib_perf_event.h>

struct side {
    pfm_err_t (*initialize)(void);
    const char *(*strerror)(int);
    int (*get_version)(void);
    pfm_err_t (*get_pmu_info)(pfm_pmu_t, pfm_pmu_info_t *);
    int (*get_event_next)(int);
    int (*find_event)(const char *);
    pfm_err_t (*get_event_info)(int, pfm_os_t, pfm_event_info_t *);
    pfm_err_t (*get_os_event_encoding)(const char *, int, pfm_os_t, void *);
    pfm_err_t (*get_event_attr_info)(int, int, pfm_os_t, pfm_event_attr_info_t *);
    pfm_err_t (*pmu_validate)(pfm_pmu_t, FILE *);
    pfm_err_t (*get_event_encoding)(const char *, int, char **, int *, uint64_t **, int *);
    pfm_err_t (*get_perf_event_encoding)(const char *, int, struct perf_event_attr *, char **, int *);
};
/* Loads a library; says why and ends the program when it cannot. */
struct side side_load(const char *path);

/* Both libraries, and who hears of a difference: which call, on what, which field, the reference's value and ours. */
struct sides {
    struct side reference, ours;
    void (*differs)(void *ctx, const char *call, const char *on, const char *field, const char *reference,
                    const char *ours);
    void *ctx;
    unsigned long asked;
};

void compare_pmu(struct sides *s, int pmu);
void compare_event(struct sides *s, int idx, pfm_os_t os);
void compare_attribute(struct sides *s, int idx, int attribute, pfm_os_t os);
/* A string: find, registers and both layers of perf_event, each with and without allocation by the library. */
void compare_string(struct sides *s, const char *text, int plm);
/* Structure sizes and arguments that are not allowed. */
void compare_arguments(struct sides *s, int idx, const char *text);

#endif
