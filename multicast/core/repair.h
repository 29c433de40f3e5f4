/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Requests fragments that are missing on this rank, and receives them. Part of the protocol: one
 * thread at a time.
 */
#ifndef OC_MULTICAST_CORE_REPAIR_H
#define OC_MULTICAST_CORE_REPAIR_H

#include "multicast/core/cast_types.h"

/* Returns when it wants to look again. */
uint64_t oc_repair_look(oc_cast_group_t *group, uint64_t now);
/* A fragment that was missing came by multicast again, perhaps before it was asked for. */
void oc_repair_came(oc_cast_group_t *group, uint32_t owner, uint32_t index);
void oc_repair_message(oc_cast_group_t *group, const oc_cast_message_t *message, uint64_t now);
/* This rank was elsewhere for so long: answers may lie here. */
void oc_repair_absent(oc_cast_operation_t *operation, uint64_t time);

#endif
