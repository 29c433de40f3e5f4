/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Flow control for operations in which one rank sends: how far the slowest rank has received. Part
 * of the protocol: one thread at a time.
 */
#ifndef OC_MULTICAST_CORE_CREDIT_H
#define OC_MULTICAST_CORE_CREDIT_H

#include "multicast/core/cast_types.h"

/* Returns when it wants to be called again at the latest. */
uint64_t oc_credit_progress(oc_cast_group_t *group, uint64_t now);
void oc_credit_message(oc_cast_group_t *group, const oc_cast_message_t *message, uint64_t now);

#endif
