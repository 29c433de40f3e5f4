/* SPDX-License-Identifier: BSD-3-Clause */
/* One clock for all hosts: what the times of messages in both directions say about theirs. */
#ifndef OC_TOOLS_TIMELINE_CLOCKS_H
#define OC_TOOLS_TIMELINE_CLOCKS_H

#include "tools/timeline/timeline_records.h"

/*
 * Entries are sorted: the aggregator's record of a chunk is before those of the ranks. Times of a
 * clock that no message connects with the first one stay. false: out of memory.
 */
bool oc_clocks_align(oc_timelines_t *timelines);

#endif
