/* SPDX-License-Identifier: BSD-3-Clause */
/* All parts, each on its communicator. */
#include "tools/perf/operate.h"

double oc_perf_operate(const oc_perf_meter_t *m, int side, const oc_perf_outside_t *outside)
{
    const oc_perf_call_t *calls[OC_PERF_MAX_CALLS];

    for (int i = 0; i < m->num_parts; i++) {
        calls[i] = &m->parts[i].call;
    }
    return oc_perf_call(calls, m->comms[side], m->num_parts, outside);
}
