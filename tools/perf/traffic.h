/* SPDX-License-Identifier: BSD-3-Clause */
/* Measures what operations put on the wires of the hosts. */
#ifndef OC_PERF_TRAFFIC_H
#define OC_PERF_TRAFFIC_H

#include "tools/perf/meter_types.h"

/* All ranks together: some more operations on the communicators of the side of that index, and what they put on the
 * wires of the hosts. */
void oc_perf_meter_wire(oc_perf_meter_t *meter, int index, oc_perf_side_t *side);

#endif
