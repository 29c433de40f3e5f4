/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Message authentication codes: who does not have the secret cannot make a message that passes, but
 * with a chance of about 2^-100 for each try. Nothing is encrypted.
 *
 * The algorithm is Poly1305-AES (D. J. Bernstein, "The Poly1305-AES message-authentication code",
 * FSE 2005), computed by OpenSSL's libcrypto; its keys are derived from the secret by HKDF-SHA256
 * (RFC 5869).
 */
#ifndef OC_BASE_MAC_H
#define OC_BASE_MAC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define OC_MAC_SIZE 16

typedef struct oc_mac oc_mac_t;

/*
 * What makes a message one of its kind: no two different messages under the same key may have the
 * same nonce, or forging becomes possible. The same message may be sent again with the same one.
 */
typedef struct {
    uint64_t high, low;
} oc_nonce_t;

/*
 * A key of its own for each purpose (a text for the kind of messages) and context (bytes that tell
 * apart what is of the same kind, such as groups; at most 64). Belongs to the caller, and to one
 * thread at a time. NULL: no memory, or libcrypto does not work.
 */
oc_mac_t *oc_mac_new(const void *secret, size_t secret_size, const char *purpose,
                     const void *context, size_t context_size);

#define OC_MAC_KEY_SIZE 32

/* The same with the key itself: 16 bytes for AES, then 16 for r. For tests of the algorithm. */
oc_mac_t *oc_mac_new_key(const uint8_t key[OC_MAC_KEY_SIZE]);

/* NULL is fine. */
void oc_mac_free(oc_mac_t *mac);

/*
 * The code of a message of two pieces; it says nothing about where one ends. Should libcrypto fail,
 * it is one that nobody accepts.
 */
void oc_mac_sign(oc_mac_t *mac, oc_nonce_t nonce, const void *head, size_t head_size,
                 const void *body, size_t body_size, uint8_t code[OC_MAC_SIZE]);

/* In a time that does not depend on where a wrong code differs. */
bool oc_mac_verify(oc_mac_t *mac, oc_nonce_t nonce, const void *head, size_t head_size,
                   const void *body, size_t body_size, const uint8_t code[OC_MAC_SIZE]);

#endif
