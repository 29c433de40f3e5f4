/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Messages to ranks of the group; all but REPAIR count as control. Part of the protocol: one thread
 * at a time.
 */
#ifndef OC_MULTICAST_CORE_POST_H
#define OC_MULTICAST_CORE_POST_H

#include "multicast/core/cast_types.h"

/* What the code of a message has to be made with: the upper half of its generation. */
uint32_t oc_cast_era(const oc_cast_group_t *group, const oc_cast_message_t *message);
void oc_cast_post(oc_cast_group_t *group, uint32_t rank, oc_cast_message_t *message);
/* One without a body, about the active operation, or about none. */
void oc_cast_post_plain(oc_cast_group_t *group, uint32_t rank, oc_cast_kind_t kind);

#endif
