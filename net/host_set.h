/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A set of internet addresses and of prefixes of them: whose connections are welcome. IPv4
 * addresses are in their IPv6-mapped form, with prefixes of 96 bits and more.
 */
#ifndef OC_NET_HOST_SET_H
#define OC_NET_HOST_SET_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>

#define OC_ADDRESS_BITS 128
#define OC_MAPPED_BITS  96      /* those before an IPv4 address */

typedef struct {
    struct in6_addr address;    /* zero behind the prefix */
    unsigned bits;              /* of the prefix; OC_ADDRESS_BITS: one address */
} oc_prefix_t;

/* First IPv4, then IPv6, each ascending; none is part of another. All zeros: empty. */
typedef struct {
    oc_prefix_t *prefixes;
    size_t count, capacity;
} oc_host_set_t;

typedef enum {
    OC_HOST_KNOWN,              /* it was in the set */
    OC_HOST_ADDED,
    OC_HOST_NO_MEMORY,
} oc_host_added_t;

oc_host_added_t oc_host_set_add(oc_host_set_t *set, const struct in6_addr *address);

bool oc_host_set_has(const oc_host_set_t *set, const struct in6_addr *address);

/* How many of its prefixes, the first ones, are of IPv4. */
size_t oc_host_set_mapped(const oc_host_set_t *set);

/* false: no memory. */
bool oc_host_set_copy(const oc_host_set_t *set, oc_host_set_t *copy);

/*
 * Makes it smaller by letting more in: all that have the same so many first bits become one prefix.
 * What is alone with these bits stays as it is, and IPv4 addresses among themselves.
 */
void oc_host_set_widen(oc_host_set_t *set, unsigned bits);

void oc_host_set_free(oc_host_set_t *set);

#endif
