/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Messages to ranks that are known, and how any message is written; all but REPAIR count as
 * control. Part of the protocol: one thread at a time. Nothing here waits.
 */
#ifndef OC_MULTICAST_CORE_DELIVER_H
#define OC_MULTICAST_CORE_DELIVER_H

#include "multicast/core/cast_types.h"

/* What the code of a message has to be made with: the upper half of its generation. */
uint32_t oc_cast_era(const oc_cast_group_t *group, const oc_cast_message_t *message);
/* Whether messages to a rank can leave. */
bool oc_cast_knows(const oc_cast_group_t *group, uint32_t rank);
/* Whether a rank has joined, as far as this one knows. */
bool oc_cast_has_heard(const oc_cast_group_t *group, uint32_t rank);
/*
 * Gives a message its sender, serial number and code, and counts it. Returns the length of head;
 * its data, if it has some, follow.
 */
size_t oc_cast_write(oc_cast_group_t *group, uint32_t rank, oc_cast_message_t *message,
                     uint8_t head[OC_CAST_HEAD_MAX]);
/* Writes a message and hands it to the network. One for a rank that is not known is dropped. */
void oc_cast_deliver(oc_cast_group_t *group, uint32_t rank, oc_cast_message_t *message);

#endif
