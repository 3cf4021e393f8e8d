/* SPDX-License-Identifier: MIT */
/* Which processors have which errata: data, from Intel's specification updates as libipt applies them. */
#include "internal.h"

struct model {
    uint16_t family, model;
    uint32_t errata;
};

#define BROADWELL  ERRATUM_BDM64
#define SKYLAKE    (ERRATUM_SKD007 | ERRATUM_SKD022)
#define XEON       (ERRATUM_SKD022 | ERRATUM_SKZ84)
#define ICE_LAKE   ERRATUM_SKD022
#define ALDER_LAKE ERRATUM_SKD022
#define GOLDMONT   ERRATUM_NEXT_IP

static const struct model models[] = {
    {6, 0x3d, BROADWELL},  {6, 0x47, BROADWELL},  {6, 0x4f, BROADWELL},  {6, 0x56, BROADWELL},  {6, 0x4e, SKYLAKE},
    {6, 0x5e, SKYLAKE},    {6, 0x8e, SKYLAKE},    {6, 0x9e, SKYLAKE},    {6, 0xa5, SKYLAKE},    {6, 0xa6, SKYLAKE},
    {6, 0x55, XEON},       {6, 0x6a, XEON},       {6, 0x6c, XEON},       {6, 0x8f, XEON},       {6, 0xcf, XEON},
    {6, 0xad, XEON},       {6, 0xae, XEON},       {6, 0x66, ICE_LAKE},   {6, 0x7d, ICE_LAKE},   {6, 0x7e, ICE_LAKE},
    {6, 0x8c, ICE_LAKE},   {6, 0x8d, ICE_LAKE},   {6, 0xa7, ICE_LAKE},   {6, 0xa8, ICE_LAKE},   {6, 0x97, ALDER_LAKE},
    {6, 0x9a, ALDER_LAKE}, {6, 0xba, ALDER_LAKE}, {6, 0xb7, ALDER_LAKE}, {6, 0xbf, ALDER_LAKE}, {6, 0xc5, ALDER_LAKE},
    {6, 0xc6, ALDER_LAKE}, {6, 0xb5, ALDER_LAKE}, {6, 0xaa, ALDER_LAKE}, {6, 0xac, ALDER_LAKE}, {6, 0xbd, ALDER_LAKE},
    {6, 0xcc, ALDER_LAKE}, {6, 0xd5, ALDER_LAKE}, {18, 1, ALDER_LAKE},   {18, 3, ALDER_LAKE},   {19, 1, XEON},
    {6, 0x5c, GOLDMONT},
};

uint32_t flow_errata(unsigned family, unsigned model)
{
    for (size_t i = 0; i < sizeof models / sizeof models[0]; i++)
        if (models[i].family == family && models[i].model == model)
            return models[i].errata;
    return 0;
}
