/* SPDX-License-Identifier: BSD-3-Clause */
/* A picture of one collective: time to the right, ranks and aggregators below each other. */
#ifndef OC_TOOLS_TIMELINE_DRAWING_H
#define OC_TOOLS_TIMELINE_DRAWING_H

#include <stdio.h>

#include "tools/timeline/timeline_records.h"

/* Writes SVG. */
void oc_drawing_write(const oc_collective_view_t *collective, FILE *out);

#endif
