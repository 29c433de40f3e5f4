/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Messages of the data plane by hand: a rank whose client has set a group up sends and receives what
 * a test wants. Integers (OC_TYPE_INT32) and their sum; the first lane of the group.
 */
#ifndef OC_TESTS_ENGINE_HAND_H
#define OC_TESTS_ENGINE_HAND_H

#include "client/state/types.h"
#include "tests/engine/harness.h"

typedef struct {
    rank_t *rank;
    oc_group_t *group;
    const oc_lane_t *lane;
} hand_t;

typedef struct {
    oc_transfer_t transfer;
    bool done;
    uint8_t bytes[OC_HEADER_SIZE + OC_MAX_SMALL];
} hand_message_t;

/* The group is live, and its client has nothing under way. */
hand_t hand_open(rank_t *rank, unsigned group);

/* START, ACK or COMMIT of a vector that has so many whole chunks, all on this lane. */
oc_header_t hand_large(const hand_t *hand, uint8_t message, uint64_t sequence, uint32_t chunk_bytes,
                       uint32_t chunks);
oc_header_t hand_small(const hand_t *hand, uint64_t sequence, uint32_t bytes);

/* Sends header and data, of the length that it says, and waits until UCX has let go of them. */
void hand_request(hand_t *hand, const oc_header_t *header, const void *data);
void hand_contribute(hand_t *hand, uint64_t sequence, uint32_t slot, const void *data,
                     size_t length);

/* Posts a receive, and waits for it: false after so many milliseconds. */
void hand_expect(hand_t *hand, hand_message_t *message, uint64_t tag);
bool hand_wait(hand_t *hand, const hand_message_t *message, unsigned ms);

/* The tags of what comes to this rank. */
uint64_t hand_reply_tag(const hand_t *hand, uint64_t sequence, uint64_t slot);
uint64_t hand_result_tag(const hand_t *hand, uint64_t sequence, uint64_t slot);

#endif
