/* SPDX-License-Identifier: BSD-3-Clause */
/* What people read: a line for each collective, a line for each chunk of one. */
#ifndef OC_TOOLS_TIMELINE_TIMELINE_REPORT_H
#define OC_TOOLS_TIMELINE_TIMELINE_REPORT_H

#include <stdio.h>

#include "tools/timeline/timeline_records.h"

/* false: out of memory. */
bool oc_report_collectives(const oc_timelines_t *timelines, FILE *out);

void oc_report_chunks(const oc_collective_view_t *collective, FILE *out);

/* The collective of median duration, or NULL when there is none (or no memory). */
const oc_collective_view_t *oc_report_typical(const oc_timelines_t *timelines);

#endif
