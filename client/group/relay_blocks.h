/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The blocks of the ranks that are no leaders: each writes its own into its places of the ring, the
 * others of the host take it, and the leader multicasts what it has of them. Callers hold the lock
 * of the client.
 */
#ifndef OC_CLIENT_GROUP_RELAY_BLOCKS_H
#define OC_CLIENT_GROUP_RELAY_BLOCKS_H

#include "client/state/types.h"

/* Before the first step of an operation. */
void oc_relay_begin_blocks(oc_relay_t *relay);

/* A step each: whether one was done, or the group has failed. */
bool oc_relay_give_block(oc_relay_t *relay);
bool oc_relay_take_block(oc_relay_t *relay);

#endif
