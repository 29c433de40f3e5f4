/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages of UCX to a peer, and its connection. */
#ifndef OC_MULTICAST_PEERS_OUTBOX_H
#define OC_MULTICAST_PEERS_OUTBOX_H

#include "multicast/peers/peers_types.h"

/* Copies both parts. slot: of the tag. To an open peer only. */
void oc_cast_peer_send(oc_cast_peer_t *peer, oc_outbox_t *outbox, uint64_t slot, const void *head,
                       size_t head_length, const void *data, size_t data_length);
/* Whether something can be sent to it: its address is known, and it is not lost. */
bool oc_cast_peer_is_open(oc_cast_peer_t *peer);

#endif
