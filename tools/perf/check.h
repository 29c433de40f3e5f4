/* SPDX-License-Identifier: BSD-3-Clause */
/* Fills buffers before an operation, and looks at every element after it. */
#ifndef OC_PERF_CHECK_H
#define OC_PERF_CHECK_H

#include "tools/perf/meter_types.h"

/* Fills what this rank contributes to the next operation, and spoils where its result goes. */
void oc_perf_meter_prepare(oc_perf_meter_t *meter, bool poison);
/* Compares the result of the last operation; says in meter->wrong what the first wrong one is. */
void oc_perf_meter_check(oc_perf_meter_t *meter, int side, int iteration);

#endif
