/* SPDX-License-Identifier: BSD-3-Clause */
/* Measures what operations put on the wires of the hosts. */
#ifndef OC_PERF_TRAFFIC_H
#define OC_PERF_TRAFFIC_H

#include "tools/perf/meter.h"

/* All ranks together: some more operations, and what they put on the wires of the hosts. */
void oc_perf_meter_wire(oc_perf_meter_t *meter, MPI_Comm comm, oc_perf_side_t *side);

#endif
