/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Keys and nonces. A nonce must never be used for two different texts: a fragment is what it is by
 * operation, rank and number; of a message the sender's serial number alone makes it unique, and
 * the rest is what the receiver knows and need not be told.
 */
#include "multicast/core/cast_seal.h"

#include <stdlib.h>

#include "base/mac.h"

struct oc_cast_seal {
    oc_mac_t *datagrams, *messages;
};

static void write_token(uint64_t token, uint8_t bytes[8])
{
    for (unsigned i = 0; i < 8; i++) {
        bytes[i] = (uint8_t) (token >> (8 * i));
    }
}

oc_cast_seal_t *oc_cast_seal_new(const uint8_t job_key[OC_JOB_KEY_SIZE], uint64_t token)
{
    oc_cast_seal_t *seal = calloc(1, sizeof(*seal));
    uint8_t context[8];

    if (NULL == seal) {
        return NULL;
    }
    write_token(token, context);
    seal->datagrams = oc_mac_new(job_key, OC_JOB_KEY_SIZE, "optcast multicast datagram", context,
                                 sizeof(context));
    seal->messages = oc_mac_new(job_key, OC_JOB_KEY_SIZE, "optcast multicast message", context,
                                sizeof(context));
    if (NULL == seal->datagrams || NULL == seal->messages) {
        oc_cast_seal_free(seal);
        return NULL;
    }
    return seal;
}

void oc_cast_seal_free(oc_cast_seal_t *seal)
{
    if (NULL != seal) {
        oc_mac_free(seal->datagrams);
        oc_mac_free(seal->messages);
        free(seal);
    }
}

static oc_nonce_t datagram_nonce(uint64_t generation, const oc_datagram_t *datagram)
{
    return (oc_nonce_t) {.high = generation,
                         .low = (uint64_t) datagram->kind << 48 | (uint64_t) datagram->rank << 32
                                | datagram->index};
}

void oc_cast_seal_datagram(oc_cast_seal_t *seal, uint64_t generation, const oc_datagram_t *datagram,
                      const void *payload, uint8_t header[OC_DATAGRAM_HEADER])
{
    oc_mac_sign(seal->datagrams, datagram_nonce(generation, datagram), header + OC_MAC_SIZE,
                OC_DATAGRAM_HEADER - OC_MAC_SIZE, payload, datagram->length, header);
}

bool oc_cast_seal_fits_datagram(oc_cast_seal_t *seal, uint64_t generation, const oc_datagram_t *datagram,
                           const uint8_t *bytes)
{
    return oc_mac_verify(seal->datagrams, datagram_nonce(generation, datagram),
                         bytes + OC_MAC_SIZE, OC_DATAGRAM_HEADER - OC_MAC_SIZE + datagram->length,
                         NULL, 0, bytes);
}

static oc_nonce_t message_nonce(uint32_t era, uint32_t receiver, const oc_cast_message_t *message)
{
    return (oc_nonce_t) {.high = message->serial,
                         .low = (uint64_t) era << 32 | (uint64_t) message->rank << 16 | receiver};
}

void oc_cast_seal_message(oc_cast_seal_t *seal, uint32_t era, uint32_t receiver,
                     const oc_cast_message_t *message, uint8_t *head, size_t head_length)
{
    oc_mac_sign(seal->messages, message_nonce(era, receiver, message), head + OC_MAC_SIZE,
                head_length - OC_MAC_SIZE, message->data, message->data_length, head);
}

bool oc_cast_seal_fits_message(oc_cast_seal_t *seal, uint32_t era, uint32_t receiver,
                          const oc_cast_message_t *message, const uint8_t *bytes, size_t length)
{
    return oc_mac_verify(seal->messages, message_nonce(era, receiver, message),
                         bytes + OC_MAC_SIZE, length - OC_MAC_SIZE, NULL, 0, bytes);
}
