/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The code in the header of a data message: who does not have the job's key cannot make one that
 * passes, nor change one on its way.
 *
 * No two different messages of a job have the same nonce under the same key:
 *   - A group's id is never used again in a job, and its low bits are the number of the team. In
 *     their place stands the aggregator's number in the communicator, which teams do not share.
 *   - Of one rank for one aggregator, and of one aggregator for all its ranks, a collective has one
 *     message of each type: one that is sent again is the same. READY has a type of its own, and
 *     what may differ in it stands in the place of the sequence.
 *   - A leaf of a tree has members with the same numbers as other leaves: it and its members have a
 *     key of their own. All other servers share one, leaves with their parent too.
 */
#ifndef OC_PROTOCOL_SEAL_H
#define OC_PROTOCOL_SEAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/limits.h"
#include "base/mac.h"
#include "protocol/message.h"

#define OC_CODE_OFFSET (OC_HEADER_SIZE - OC_MAC_SIZE)

/* For the messages of one server and its clients. leaf: its identity if it is one, else 0. */
oc_mac_t *oc_seal_new(const uint8_t key[OC_JOB_KEY_SIZE], uint64_t leaf);

/*
 * Writes the code into a whole message, in which the header is encoded already. aggregator: its
 * number in the communicator.
 */
void oc_seal(oc_mac_t *mac, uint64_t group, uint32_t aggregator, const oc_header_t *header,
             uint8_t *message, size_t length);

/* header: what the message has been decoded to. */
bool oc_is_sealed(oc_mac_t *mac, uint64_t group, uint32_t aggregator, const oc_header_t *header,
                  const uint8_t *message, size_t length);

#endif
