/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Multicasts again what several hosts lack. Part of the protocol: one thread at a time.
 *
 * Whoever is asked for a fragment by two hosts sends it to all once more, instead of to each, and
 * all take it that for a while whoever asks for it has just got it.
 */
#ifndef OC_MULTICAST_CORE_RECAST_H
#define OC_MULTICAST_CORE_RECAST_H

#include "multicast/core/cast_types.h"

/*
 * Whether it is likely to help nobody: multicast has ended, or is silent (reception.h), or has not brought what was
 * sent again, nor anything else since. There has to be an active operation.
 */
bool oc_recast_is_in_vain(const oc_cast_group_t *group);

/*
 * Whether a fragment was multicast again lately, by any rank: one to two times group->patience ago.
 */
bool oc_recast_lately(const oc_cast_operation_t *operation, uint32_t owner, uint32_t index);
/* It was, now. */
void oc_recast_note(oc_cast_operation_t *operation, uint32_t owner, uint32_t index);
/* Forgets what was not lately. */
void oc_recast_progress(oc_cast_group_t *group, uint64_t now);

/*
 * Whether another host than that of a service wants a fragment that this rank has been asked for.
 */
bool oc_recast_wanted(const oc_cast_group_t *group, const oc_cast_service_t *service,
                      uint32_t index);
/* A fragment was given to the requester's host alone, which is another one. */
void oc_recast_given(oc_cast_group_t *group, const oc_cast_service_t *service, uint32_t index);
/* Sends a fragment that is here. false: the network has no room now. */
bool oc_recast_send(oc_cast_group_t *group, uint32_t owner, uint32_t index);

#endif
