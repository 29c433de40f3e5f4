/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How a process is reached by messages: the address of its UCX worker, and the addresses of its
 * host from which that connects. Codec; pure functions, any thread. doc/multicast.md has the
 * layout.
 */
#ifndef OC_MULTICAST_WIRE_CONTACT_H
#define OC_MULTICAST_WIRE_CONTACT_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define OC_CONTACT_ADDRESS_SIZE 1152u /* longest address of a UCX worker */
#define OC_CONTACT_HOSTS        12u   /* most addresses of a host */

/* Most bytes of an encoded contact. */
#define OC_CONTACT_MAX (8u + OC_CONTACT_ADDRESS_SIZE + 16u * OC_CONTACT_HOSTS)

typedef struct {
    uint16_t length;                  /* of address, in bytes; not 0 */
    uint8_t address[OC_CONTACT_ADDRESS_SIZE];
    uint8_t num_hosts;
    struct in6_addr hosts[OC_CONTACT_HOSTS]; /* IPv4 in its IPv6-mapped form */
} oc_contact_t;

/* Returns how many bytes it has. */
size_t oc_contact_encode(const oc_contact_t *contact, uint8_t bytes[OC_CONTACT_MAX]);

/* What comes behind it does not count. false: it makes no sense. */
bool oc_contact_decode(const uint8_t *bytes, size_t length, oc_contact_t *contact);

/* Of the worker's address: others that were told it can check it. Not 0. */
uint64_t oc_contact_digest(const void *address, size_t length);

#endif
