/* SPDX-License-Identifier: MIT */
/* The interface of libpfm 4 (ABI 0), as libpfm.so.4 of this library offers it: see docs/libpfm.md. Structure layouts,
 * names and numbers are those that programs were compiled with; typedefs and bit-fields are part of that contract.
 *
 * Every function may be called from any thread at any time after pfm_initialize has returned in one of them. Functions
 * return PFM_SUCCESS or a negative PFM_ERR_ code unless they say otherwise. Strings in info structures are constants. */
#ifndef ASSAY_PERFMON_PFMLIB_H
#define ASSAY_PERFMON_PFMLIB_H

#include <inttypes.h>
#include <stdio.h>
#include <sys/types.h>
#include <unistd.h>

#include <perfmon/pfmlib_pmu.h>

#pragma GCC visibility push(default)
#ifdef __cplusplus
extern "C" {
#endif

#define LIBPFM_VERSION     (4 << 16 | 0)
#define PFM_MAJ_VERSION(v) ((v) >> 16)
#define PFM_MIN_VERSION(v) ((v)&0xffff)
#define LIBPFM_ABI_VERSION 0

/* Privilege levels, for dfl_plm: what counts when the string names no level. */
#define PFM_PLM0 0x01 /* kernel */
#define PFM_PLM1 0x02
#define PFM_PLM2 0x04
#define PFM_PLM3 0x08 /* user */
#define PFM_PLMH 0x10 /* hypervisor */

#define PFM_SUCCESS      0
#define PFM_ERR_NOTSUPP  -1  /* no such PMU here, or no such operating system layer */
#define PFM_ERR_INVAL    -2  /* an argument is wrong */
#define PFM_ERR_NOINIT   -3  /* pfm_initialize was not called */
#define PFM_ERR_NOTFOUND -4  /* no such PMU or event */
#define PFM_ERR_FEATCOMB -5  /* umasks or modifiers that do not go together */
#define PFM_ERR_UMASK    -6  /* a umask is missing */
#define PFM_ERR_NOMEM    -7  /* allocation failed */
#define PFM_ERR_ATTR     -8  /* no such umask or modifier, or one that is not allowed here */
#define PFM_ERR_ATTR_VAL -9  /* the value of a modifier is wrong */
#define PFM_ERR_ATTR_SET -10 /* the modifier has another value already */
#define PFM_ERR_TOOMANY  -11 /* too many umasks or modifiers */
#define PFM_ERR_TOOSMALL -12 /* the caller's array is too small */

typedef enum {
    PFM_PMU_TYPE_UNKNOWN = 0,
    PFM_PMU_TYPE_CORE,
    PFM_PMU_TYPE_UNCORE,
    PFM_PMU_TYPE_OS_GENERIC,
    PFM_PMU_TYPE_MAX
} pfm_pmu_type_t;

typedef enum {
    PFM_ATTR_NONE = 0,
    PFM_ATTR_UMASK,
    PFM_ATTR_MOD_BOOL,    /* NAME or NAME=0, NAME=1 */
    PFM_ATTR_MOD_INTEGER, /* NAME=NUMBER */
    PFM_ATTR_RAW_UMASK,   /* never listed */
    PFM_ATTR_MAX
} pfm_attr_t;

/* What a count is; events of the PMUs known here are all PFM_DTYPE_UINT64. */
typedef enum {
    PFM_DTYPE_UNKNOWN = 0,
    PFM_DTYPE_UINT64,
    PFM_DTYPE_INT64,
    PFM_DTYPE_DOUBLE,
    PFM_DTYPE_FIXED,
    PFM_DTYPE_RATIO,
    PFM_DTYPE_CHAR8,
    PFM_DTYPE_MAX
} pfm_dtype_t;

/* Who acts on an attribute. */
typedef enum {
    PFM_ATTR_CTRL_UNKNOWN = 0,
    PFM_ATTR_CTRL_PMU,
    PFM_ATTR_CTRL_PERF_EVENT,
    PFM_ATTR_CTRL_MAX
} pfm_attr_ctrl_t;

/* Operating system layers: they decide on the modifiers that exist and on the structure that is filled. */
typedef enum {
    PFM_OS_NONE = 0,       /* registers: pfm_pmu_encode_arg_t */
    PFM_OS_PERF_EVENT,     /* perf_event_open(2): pfm_perf_encode_arg_t; modifiers of the PMU, u, k, mg, mh */
    PFM_OS_PERF_EVENT_EXT, /* the same with the modifiers of sampling and scheduling */
    PFM_OS_MAX
} pfm_os_t;

typedef int pfm_err_t;
typedef int os_err_t;

/* `size` in the structures below: sizeof the structure, or 0 for the layout of ABI 0. Less than that is PFM_ERR_INVAL;
 * more is allowed when the bytes beyond what is known here are zero. */
typedef struct {
    const char *name, *desc;
    size_t size;
    pfm_pmu_t pmu;
    pfm_pmu_type_t type;
    int nevents;
    int first_event;  /* for pfm_get_event_next; -1 when there is none */
    int max_encoding; /* values that an encoding has at most */
    int num_cntrs, num_fixed_cntrs;
    struct {
        unsigned int is_present : 1; /* this machine has it, or LIBPFM_FORCE_PMU says so */
        unsigned int is_dfl : 1;     /* the architectural PMU */
        unsigned int reserved_bits : 30;
    };
} pfm_pmu_info_t;

typedef enum {
    PFM_EVENT_INFO_SPEC_NA = 0,
    PFM_EVENT_INFO_SPEC_TRUE = 1, /* also what was executed and thrown away counts */
    PFM_EVENT_INFO_SPEC_FALSE = 2
} pfm_event_info_spec_t;

typedef struct {
    const char *name, *desc;
    const char *equiv; /* the event that this is another name of, or NULL */
    size_t size;
    uint64_t code; /* event select and built-in umask; no encoding */
    pfm_pmu_t pmu;
    pfm_dtype_t dtype;
    int idx;
    int nattrs; /* attributes of the layer that was asked for */
    int reserved;
    struct {
        unsigned int is_precise : 1; /* PEBS is possible */
        unsigned int is_speculative : 2;
        unsigned int support_hw_smpl : 1;
        unsigned int reserved_bits : 28;
    };
} pfm_event_info_t;

typedef struct {
    const char *name, *desc;
    const char *equiv; /* the umasks that this is another name of, or NULL */
    size_t size;
    uint64_t code; /* umasks: their bits; modifiers: a number without meaning */
    pfm_attr_t type;
    int idx;
    pfm_attr_ctrl_t ctrl;
    struct {
        unsigned int is_dfl : 1; /* umasks: taken when the group has none */
        unsigned int is_precise : 1;
        unsigned int is_speculative : 2;
        unsigned int support_hw_smpl : 1;
        unsigned int reserved_bits : 27;
    };
    union {
        uint64_t dfl_val64;
        const char *dfl_str;
        int dfl_bool;
        int dfl_int;
    };
} pfm_event_attr_info_t;

/* PFM_OS_NONE. Memory that the library allocates is the caller's to free(). */
typedef struct {
    uint64_t *codes; /* array of `count`, or NULL: allocated here */
    char **fstr;     /* where to put the event's full name, allocated here; may be NULL */
    size_t size;
    int count; /* in: elements of codes; out: values in it */
    int idx;   /* out */
} pfm_pmu_encode_arg_t;

#if __SIZEOF_POINTER__ == 8
#define PFM_PMU_INFO_ABI0   56
#define PFM_EVENT_INFO_ABI0 64
#define PFM_ATTR_INFO_ABI0  64
#define PFM_RAW_ENCODE_ABI0 32
#else
#define PFM_PMU_INFO_ABI0   44
#define PFM_EVENT_INFO_ABI0 48
#define PFM_ATTR_INFO_ABI0  48
#define PFM_RAW_ENCODE_ABI0 20
#endif

/* Looks which PMUs there are (CPUID) and reads the environment. Calling it again, also from several threads, does no
 * harm. */
extern pfm_err_t pfm_initialize(void);
extern void pfm_terminate(void);
extern const char *pfm_strerror(int code); /* a constant */
extern int pfm_get_version(void);

/* PFM_ERR_NOTSUPP for a PMU without a table, PFM_ERR_INVAL from PFM_PMU_MAX on. */
extern pfm_err_t pfm_get_pmu_info(pfm_pmu_t pmu, pfm_pmu_info_t *output);
/* The event after idx in its PMU, or -1. */
extern int pfm_get_event_next(int idx);
/* "PMU::EVENT:UMASK:MODIFIER=VALUE" to the event's idx, or an error. */
extern int pfm_find_event(const char *str);
extern pfm_err_t pfm_get_event_info(int idx, pfm_os_t os, pfm_event_info_t *output);
/* Attribute aidx, from 0 to nattrs - 1, of event eidx. */
extern pfm_err_t pfm_get_event_attr_info(int eidx, int aidx, pfm_os_t os, pfm_event_attr_info_t *output);
/* args: see pfm_os_t. */
extern pfm_err_t pfm_get_os_event_encoding(const char *str, int dfl_plm, pfm_os_t os, void *args);
/* Whether the tables of a PMU are sound; says to fp what is not. */
extern pfm_err_t pfm_pmu_validate(pfm_pmu_t pmu_id, FILE *fp);
/* The older form of pfm_get_os_event_encoding(PFM_OS_NONE). fstr and idx may be NULL. */
extern pfm_err_t pfm_get_event_encoding(const char *str, int dfl_plm, char **fstr, int *idx, uint64_t **codes,
                                        int *count);

#define pfm_for_each_event_attr(x, z) for ((x) = 0; (x) < (z)->nattrs; (x) = (x) + 1)
#define pfm_for_all_pmus(x)           for ((x) = PFM_PMU_NONE; (x) < PFM_PMU_MAX; (x)++)

#ifdef __cplusplus
}
#endif
#pragma GCC visibility pop
#endif
