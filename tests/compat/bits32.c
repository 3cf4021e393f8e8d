/* SPDX-License-Identifier: MIT */
/* libpfm.so.4 in a 32-bit program: the structures of its ABI, and 64-bit values through them. The layouts themselves
 * are asserted in src/compat/abi.c. */
#include <stdlib.h>
#include <string.h>

#include <perfmon/pfmlib_perf_event.h>

static int check(const char *what, int good)
{
    if (!good)
        printf("%s is wrong\n", what);
    return !good;
}

int main(void)
{
    int wrong = check("sizes", sizeof(pfm_pmu_info_t) == 44 && sizeof(pfm_event_info_t) == 48 &&
                                   sizeof(pfm_event_attr_info_t) == 48 && sizeof(pfm_pmu_encode_arg_t) == 20 &&
                                   sizeof(pfm_perf_encode_arg_t) == 28);
    setenv("LIBPFM_FORCE_PMU", "knm", 1);
    wrong += check("initialize", pfm_initialize() == PFM_SUCCESS);

    pfm_event_attr_info_t attribute = {.size = 0};
    wrong += check("attribute", pfm_get_event_attr_info(371 << 21 | 29, 34, PFM_OS_NONE, &attribute) == PFM_SUCCESS &&
                                    strcmp(attribute.name, "OUTSTANDING") == 0 && attribute.code == 1ull << 38);

    char *name = NULL;
    pfm_pmu_encode_arg_t raw = {.fstr = &name};
    wrong += check("registers", pfm_get_os_event_encoding("OFFCORE_RESPONSE_0:DMND_DATA_RD:OUTSTANDING:u", PFM_PLM0,
                                                          PFM_OS_NONE, &raw) == PFM_SUCCESS &&
                                    raw.count == 2 && raw.codes[0] == 0x5101b7 && raw.codes[1] == 0x4000000001);
    free(raw.codes);
    free(name);

    struct perf_event_attr attr = {.size = sizeof attr};
    pfm_perf_encode_arg_t perf = {.attr = &attr};
    wrong += check("perf", pfm_get_os_event_encoding("netburst::ITLB_reference:HIT", PFM_PLM0, PFM_OS_PERF_EVENT,
                                                     &perf) == PFM_ERR_NOTFOUND);
    wrong += check("perf", pfm_get_os_event_encoding("OFFCORE_RESPONSE_1:DMND_DATA_RD:DDR_FAR", PFM_PLM0,
                                                     PFM_OS_PERF_EVENT, &perf) == PFM_SUCCESS &&
                               attr.config == 0x2b7 && attr.config1 == 0x101000001 && perf.idx == (371 << 21 | 30));
    if (!wrong)
        printf("as on 64 bits\n");
    return wrong != 0;
}
