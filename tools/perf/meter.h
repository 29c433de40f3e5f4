/* SPDX-License-Identifier: BSD-3-Clause */
/* What a measurement has from its first row to its last. */
#ifndef OC_PERF_METER_H
#define OC_PERF_METER_H

#include "tools/perf/component.h"
#include "tools/perf/perf_job.h"
#include "tools/perf/perf_options.h"

typedef struct oc_perf_meter oc_perf_meter_t;

/*
 * All ranks together. NULL, on all ranks and after a message, if one of them has no memory, or if
 * sizes or interfaces do not work out. Options, job and component outlive it.
 */
oc_perf_meter_t *oc_perf_meter_open(const oc_perf_options_t *options, const oc_perf_job_t *job,
                                    const oc_perf_component_t *component);
void oc_perf_meter_close(oc_perf_meter_t *meter);

#endif
