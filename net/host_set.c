/* SPDX-License-Identifier: BSD-3-Clause */
/* Sorted prefixes: looking up, adding, and making them fewer. */
#include "net/host_set.h"

#include <stdlib.h>
#include <string.h>

/* Whether the first so many bits are the same. */
static bool same_bits(const struct in6_addr *a, const struct in6_addr *b, unsigned bits)
{
    unsigned bytes = bits / 8, rest = bits % 8;

    return 0 == memcmp(a, b, bytes)
           && (0 == rest || 0 == (a->s6_addr[bytes] ^ b->s6_addr[bytes]) >> (8 - rest));
}

static bool host_set_covers(const oc_prefix_t *prefix, const struct in6_addr *address)
{
    return same_bits(&prefix->address, address, prefix->bits);
}

/* IPv4 comes first: in the order of bytes it would be in the midst of the others. */
static int host_set_compare(const struct in6_addr *a, const struct in6_addr *b)
{
    int families = !!IN6_IS_ADDR_V4MAPPED(b) - !!IN6_IS_ADDR_V4MAPPED(a);

    return 0 != families ? families : memcmp(a, b, sizeof(*a));
}

/* The first one that is greater. */
static size_t host_set_place_of(const oc_host_set_t *set, const struct in6_addr *address)
{
    size_t low = 0, high = set->count;

    while (low < high) {
        size_t middle = (low + high) / 2;

        if (host_set_compare(&set->prefixes[middle].address, address) <= 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

/* Prefixes do not overlap, so it can only be in the one before its place. */
bool oc_host_set_has(const oc_host_set_t *set, const struct in6_addr *address)
{
    size_t place = host_set_place_of(set, address);

    return place > 0 && host_set_covers(&set->prefixes[place - 1], address);
}

static bool host_set_reserve(oc_host_set_t *set, size_t count)
{
    size_t capacity = 0 == set->capacity ? 16 : set->capacity;
    oc_prefix_t *grown;

    while (capacity < count) {
        capacity *= 2;
    }
    if (capacity == set->capacity) {
        return true;
    }
    grown = realloc(set->prefixes, capacity * sizeof(*grown));
    if (NULL == grown) {
        return false;
    }
    set->prefixes = grown;
    set->capacity = capacity;
    return true;
}

oc_host_added_t oc_host_set_add(oc_host_set_t *set, const struct in6_addr *address)
{
    size_t place = host_set_place_of(set, address);

    if (place > 0 && host_set_covers(&set->prefixes[place - 1], address)) {
        return OC_HOST_KNOWN;
    }
    if (!host_set_reserve(set, set->count + 1)) {
        return OC_HOST_NO_MEMORY;
    }
    memmove(set->prefixes + place + 1, set->prefixes + place,
            (set->count - place) * sizeof(*set->prefixes));
    set->prefixes[place] = (oc_prefix_t) {.address = *address, .bits = OC_ADDRESS_BITS};
    set->count++;
    return OC_HOST_ADDED;
}

size_t oc_host_set_mapped(const oc_host_set_t *set)
{
    size_t count = 0;

    while (count < set->count && IN6_IS_ADDR_V4MAPPED(&set->prefixes[count].address)) {
        count++;
    }
    return count;
}

bool oc_host_set_copy(const oc_host_set_t *set, oc_host_set_t *copy)
{
    *copy = (oc_host_set_t) {0};
    if (!host_set_reserve(copy, set->count)) {
        return false;
    }
    if (set->count > 0) {
        memcpy(copy->prefixes, set->prefixes, set->count * sizeof(*set->prefixes));
    }
    copy->count = set->count;
    return true;
}

static void cut(oc_prefix_t *prefix, unsigned bits)
{
    unsigned bytes = bits / 8, rest = bits % 8;

    prefix->bits = bits;
    if (rest > 0) {
        prefix->address.s6_addr[bytes++] &= (uint8_t) (0xff00 >> rest);
    }
    memset(prefix->address.s6_addr + bytes, 0, sizeof(prefix->address) - bytes);
}

/* What of the other family has the same bits is none of its neighbours. */
static bool may_merge(const oc_prefix_t *a, const oc_prefix_t *b, unsigned bits)
{
    bool mapped = IN6_IS_ADDR_V4MAPPED(&a->address) || IN6_IS_ADDR_V4MAPPED(&b->address);

    return !(mapped && bits <= OC_MAPPED_BITS) && same_bits(&a->address, &b->address, bits);
}

void oc_host_set_widen(oc_host_set_t *set, unsigned bits)
{
    size_t kept = 0;

    for (size_t i = 0; i < set->count; i++) {
        if (kept > 0 && may_merge(&set->prefixes[kept - 1], &set->prefixes[i], bits)) {
            cut(&set->prefixes[kept - 1], bits);
        } else {
            set->prefixes[kept++] = set->prefixes[i];
        }
    }
    set->count = kept;
}

void oc_host_set_free(oc_host_set_t *set)
{
    free(set->prefixes);
    *set = (oc_host_set_t) {0};
}
