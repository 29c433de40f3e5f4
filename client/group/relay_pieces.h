/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the leader of a host hands on to the other ranks: pieces of the packed vector as they come
 * by multicast, from whichever hosts, in its places of the ring. They begin when all blocks of the
 * ranks of the host have been taken. Callers hold the lock of the client.
 */
#ifndef OC_CLIENT_GROUP_RELAY_PIECES_H
#define OC_CLIENT_GROUP_RELAY_PIECES_H

#include "client/state/types.h"

/* The leader: whether there may be enough to hand on that it is worth looking. */
bool oc_relay_may_feed(const oc_relay_t *relay);

/* A step of the leader, and of the others: whether one was done, or the group has failed. */
bool oc_relay_feed(oc_relay_t *relay);
bool oc_relay_take_piece(oc_relay_t *relay);

#endif
