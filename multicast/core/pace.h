/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How fast fragments come, and with that for how long a group waits for what may still come: between looks
 * (repair.h), for what is multicast again, and until queues are empty (reception.h). Part of the protocol: one
 * thread at a time.
 */
#ifndef OC_MULTICAST_CORE_PACE_H
#define OC_MULTICAST_CORE_PACE_H

#include "multicast/core/cast_types.h"

void oc_pace_begin(oc_cast_group_t *group);
/* The active operation begins on this rank. */
void oc_pace_restart(oc_cast_operation_t *operation, uint64_t now);
/* A fragment came by multicast, as first sent. */
void oc_pace_came(oc_cast_operation_t *operation, uint64_t now);
/* So many own fragments have just been counted as sent. */
void oc_pace_sent(oc_cast_operation_t *operation, uint32_t count, uint64_t now);
/* At a look: learns from the active operation as far as it is. */
void oc_pace_learn(oc_cast_group_t *group, uint64_t now);
/* The active operation is over, perhaps before a look: that tells how fast the network is, too. */
void oc_pace_over(oc_cast_group_t *group, uint64_t now);

/*
 * ns from look to look as long as something comes: no fragment overtakes others by more. Of what is lost for
 * several ranks, all know about within that. Less where next to nothing comes.
 */
uint64_t oc_pace_interval(const oc_cast_group_t *group);
/*
 * ns from the beginning of an operation up to its first look: more, as not all ranks begin at once, but where
 * next to nothing comes; 0 if all may be asked for.
 */
uint64_t oc_pace_first_look(const oc_cast_group_t *group);

#endif
