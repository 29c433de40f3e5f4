/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finds out which ranks multicast reaches: all ranks of a group send probes when it is set up.
 * Part of the protocol: one thread at a time.
 */
#ifndef OC_MULTICAST_CORE_CAST_PROBE_H
#define OC_MULTICAST_CORE_CAST_PROBE_H

#include "multicast/core/cast_types.h"

oc_status_t oc_probe_begin(oc_cast_group_t *group, uint64_t now);
void oc_probe_end(oc_cast_group_t *group);
/* A datagram of the rank has come. */
void oc_probe_heard(oc_cast_group_t *group, uint32_t rank);
/* fresh: it is not one that may have come before. */
void oc_probe_message(oc_cast_group_t *group, const oc_cast_message_t *message, bool fresh);
uint64_t oc_probe_progress(oc_cast_group_t *group, uint64_t now, uint64_t step);

#endif
