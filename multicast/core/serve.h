/* SPDX-License-Identifier: BSD-3-Clause */
/* Sends fragments to ranks that request them. Part of the protocol: one thread at a time. */
#ifndef OC_MULTICAST_CORE_SERVE_H
#define OC_MULTICAST_CORE_SERVE_H

#include "multicast/core/cast_types.h"

void oc_serve_request(oc_cast_group_t *group, const oc_cast_message_t *message, uint64_t now);
/* What a request that is withdrawn has not been given yet it does not get. */
void oc_serve_withdrawn(oc_cast_group_t *group, const oc_cast_message_t *message);
/* Returns when it wants to be called again at the latest. */
uint64_t oc_serve_progress(oc_cast_group_t *group, uint64_t now);

#endif
