/* SPDX-License-Identifier: BSD-3-Clause */
/* The life of a peer, for the files of this folder; its users find the rest in peers.h. */
#ifndef OC_MULTICAST_PEERS_PEER_H
#define OC_MULTICAST_PEERS_PEER_H

#include "multicast/peers/peers_types.h"

/* Told later: whoever posts is not ready to hear it. The loss itself counts as a user till then. */
void oc_cast_peer_lose(oc_cast_peer_t *peer, const char *reason);
/* Frees it if it is lost and nobody needs it any more. */
void oc_cast_peer_reap(oc_cast_peer_t *peer);
/* Frees it in any case; its endpoint is closed, and it is not in the table. */
void oc_cast_peer_free(oc_cast_peer_t *peer);

#endif
