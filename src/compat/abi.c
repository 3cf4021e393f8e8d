/* SPDX-License-Identifier: MIT */
/* libpfm.so.4: the layouts of ABI 0, checked when this is compiled. Programs that were built with libpfm 4 rely on
 * them. */
#include "compat.h"

#include <stddef.h>

#define SIZE(type, size) _Static_assert(sizeof(type) == (size), #type " has its ABI 0 size")
#if __SIZEOF_POINTER__ == 8
#define AT(type, field, offset64, offset32)                                                                            \
    _Static_assert(offsetof(type, field) == (offset64), #type "." #field " is in its place")
#else
#define AT(type, field, offset64, offset32)                                                                            \
    _Static_assert(offsetof(type, field) == (offset32), #type "." #field " is in its place")
#endif

SIZE(pfm_pmu_info_t, PFM_PMU_INFO_ABI0);
AT(pfm_pmu_info_t, name, 0, 0);
AT(pfm_pmu_info_t, desc, 8, 4);
AT(pfm_pmu_info_t, size, 16, 8);
AT(pfm_pmu_info_t, pmu, 24, 12);
AT(pfm_pmu_info_t, type, 28, 16);
AT(pfm_pmu_info_t, nevents, 32, 20);
AT(pfm_pmu_info_t, first_event, 36, 24);
AT(pfm_pmu_info_t, max_encoding, 40, 28);
AT(pfm_pmu_info_t, num_cntrs, 44, 32);
AT(pfm_pmu_info_t, num_fixed_cntrs, 48, 36);

SIZE(pfm_event_info_t, PFM_EVENT_INFO_ABI0);
AT(pfm_event_info_t, name, 0, 0);
AT(pfm_event_info_t, desc, 8, 4);
AT(pfm_event_info_t, equiv, 16, 8);
AT(pfm_event_info_t, size, 24, 12);
AT(pfm_event_info_t, code, 32, 16);
AT(pfm_event_info_t, pmu, 40, 24);
AT(pfm_event_info_t, dtype, 44, 28);
AT(pfm_event_info_t, idx, 48, 32);
AT(pfm_event_info_t, nattrs, 52, 36);
AT(pfm_event_info_t, reserved, 56, 40);

SIZE(pfm_event_attr_info_t, PFM_ATTR_INFO_ABI0);
AT(pfm_event_attr_info_t, name, 0, 0);
AT(pfm_event_attr_info_t, desc, 8, 4);
AT(pfm_event_attr_info_t, equiv, 16, 8);
AT(pfm_event_attr_info_t, size, 24, 12);
AT(pfm_event_attr_info_t, code, 32, 16);
AT(pfm_event_attr_info_t, type, 40, 24);
AT(pfm_event_attr_info_t, idx, 44, 28);
AT(pfm_event_attr_info_t, ctrl, 48, 32);
AT(pfm_event_attr_info_t, dfl_val64, 56, 40);
AT(pfm_event_attr_info_t, dfl_str, 56, 40);

SIZE(pfm_pmu_encode_arg_t, PFM_RAW_ENCODE_ABI0);
AT(pfm_pmu_encode_arg_t, codes, 0, 0);
AT(pfm_pmu_encode_arg_t, fstr, 8, 4);
AT(pfm_pmu_encode_arg_t, size, 16, 8);
AT(pfm_pmu_encode_arg_t, count, 24, 12);
AT(pfm_pmu_encode_arg_t, idx, 28, 16);

SIZE(pfm_perf_encode_arg_t, PFM_PERF_ENCODE_ABI0);
AT(pfm_perf_encode_arg_t, attr, 0, 0);
AT(pfm_perf_encode_arg_t, fstr, 8, 4);
AT(pfm_perf_encode_arg_t, size, 16, 8);
AT(pfm_perf_encode_arg_t, idx, 24, 12);
AT(pfm_perf_encode_arg_t, cpu, 28, 16);
AT(pfm_perf_encode_arg_t, flags, 32, 20);
AT(pfm_perf_encode_arg_t, pad0, 36, 24);

_Static_assert(PFM_PMU_INTEL_NETBURST == 7 && PFM_PMU_INTEL_NETBURST_P == 8 && PFM_PMU_INTEL_X86_ARCH == 18 &&
                   PFM_PMU_PERF_EVENT == 51 && PFM_PMU_PERF_EVENT_RAW == 114 && PFM_PMU_INTEL_KNL == 203 &&
                   PFM_PMU_INTEL_KNM == 371 && PFM_PMU_MAX == 517,
               "PMU numbers never change");
