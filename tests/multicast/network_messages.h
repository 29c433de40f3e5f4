/* SPDX-License-Identifier: BSD-3-Clause */
/* Reliable messages between nodes of a simulated network. */
#ifndef OC_TESTS_MULTICAST_NETWORK_MESSAGES_H
#define OC_TESTS_MULTICAST_NETWORK_MESSAGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tests/multicast/network_turns.h"

/* counts: among the unsent ones, until it leaves; a long one does not while its receiver pauses. */
void network_post(network_t *network, unsigned from, unsigned to, const void *head,
                  size_t head_length, const void *data, size_t data_length, bool counts);
size_t network_room(const network_t *network, unsigned from, unsigned to);
unsigned network_unsent(const network_t *network, unsigned node);

/* In a turn of the node: gives it a message that has come. */
void network_hand_message(network_t *network, unsigned node);

/* No meddler. */
void network_forge_message(network_t *network, unsigned to, const uint8_t *bytes, size_t length,
                           uint64_t when);

/* What streams call. */
void network_stream_delivered(void *arg, unsigned from, unsigned to, void *thing);
void network_stream_dropped(void *arg, void *thing);

#endif
