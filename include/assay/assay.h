/* SPDX-License-Identifier: MIT */
/* All of libassay's public interface. */
#ifndef ASSAY_ASSAY_H
#define ASSAY_ASSAY_H

#include <assay/base.h>
#include <assay/core_unit.h>
#include <assay/count.h>
#include <assay/cursor.h>
#include <assay/event.h>
#include <assay/event_json.h>
#include <assay/event_list.h>
#include <assay/event_table.h>
#include <assay/flow.h>
#include <assay/image.h>
#include <assay/machine.h>
#include <assay/machine_event.h>
#include <assay/perfdata.h>
#include <assay/probe.h>
#include <assay/profile.h>
#include <assay/pt.h>
#include <assay/pt_unit.h>
#include <assay/recording.h>
#include <assay/sys.h>
#include <assay/text.h>
#include <assay/workers.h>

#endif
