/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What proves that a datagram or a message is from a rank of the group: a code under a key that
 * nobody else has. Two keys for each group, derived from the job's key and the group's token; the
 * nonces say which datagram or message of the group it is. One thread at a time.
 */
#ifndef OC_MULTICAST_CORE_CAST_SEAL_H
#define OC_MULTICAST_CORE_CAST_SEAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/limits.h"
#include "multicast/wire/cast_message.h"
#include "multicast/wire/datagram.h"

typedef struct oc_cast_seal oc_cast_seal_t;

/* NULL: no memory, or libcrypto does not work. */
oc_cast_seal_t *oc_cast_seal_new(const uint8_t job_key[OC_JOB_KEY_SIZE], uint64_t token);

/* NULL is allowed. */
void oc_cast_seal_free(oc_cast_seal_t *seal);

/*
 * Puts the code into an encoded header. generation: the whole number of the operation, of which
 * the header has the lower half; 0 of a PROBE.
 */
void oc_cast_seal_datagram(oc_cast_seal_t *seal, uint64_t generation, const oc_datagram_t *datagram,
                      const void *payload, uint8_t header[OC_DATAGRAM_HEADER]);

/* bytes: the whole datagram, which was decoded. */
bool oc_cast_seal_fits_datagram(oc_cast_seal_t *seal, uint64_t generation, const oc_datagram_t *datagram,
                           const uint8_t *bytes);

/*
 * Puts the code into an encoded message for a rank. era: the upper half of the generation, for
 * messages about an operation.
 */
void oc_cast_seal_message(oc_cast_seal_t *seal, uint32_t era, uint32_t receiver,
                     const oc_cast_message_t *message, uint8_t *head, size_t head_length);

/* bytes: the whole message, which was decoded. */
bool oc_cast_seal_fits_message(oc_cast_seal_t *seal, uint32_t era, uint32_t receiver,
                          const oc_cast_message_t *message, const uint8_t *bytes, size_t length);

#endif
