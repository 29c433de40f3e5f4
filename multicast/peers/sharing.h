/* SPDX-License-Identifier: BSD-3-Clause */
/* Data for peers on this host, in memory that both share, and the notes about it. */
#ifndef OC_MULTICAST_PEERS_SHARING_H
#define OC_MULTICAST_PEERS_SHARING_H

#include "multicast/peers/peers_types.h"

/* Into shared memory; false: it has to be sent. */
bool oc_sharing_lay_out(oc_cast_peer_t *peer, const void *head, size_t head_length,
                        const void *data, size_t data_length);
/* A note came. Takes what it is about, which may call the events of peers. */
void oc_sharing_take_note(oc_peers_t *peers, const uint8_t *bytes, size_t length);

#endif
