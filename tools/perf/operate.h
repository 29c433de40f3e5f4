/* SPDX-License-Identifier: BSD-3-Clause */
/* Does once what is measured. */
#ifndef OC_PERF_OPERATE_H
#define OC_PERF_OPERATE_H

#include "tools/perf/meter_types.h"

/*
 * On the communicators of that side, with what is outside between start and wait, unless it is NULL. Returns the seconds
 * outside MPI.
 */
double oc_perf_operate(const oc_perf_meter_t *meter, int side, const oc_perf_outside_t *outside);

#endif
