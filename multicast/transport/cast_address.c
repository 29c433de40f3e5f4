/* SPDX-License-Identifier: BSD-3-Clause */
/* Checks and makes ranges of multicast addresses. */
#include "multicast/transport/cast_address.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "base/text.h"

#define FIRST_MULTICAST 0xe0000000u /* 224.0.0.0 */
#define LAST_MULTICAST  0xefffffffu /* 239.255.255.255 */
#define FIRST_USABLE    0xe0000100u /* 224.0.1.0 */
#define FIRST_SCOPED    0xef000000u /* 239.0.0.0 */
#define SCOPE           0xefc00000u /* 239.192.0.0 */
#define SCOPE_SIZE      0x00040000u /* /14 */

/*
 * Of an address a frame's has the lower 23 bits: no two of a larger block can be told apart by
 * network cards and by many switches. A smaller one has no room for the job's and others.
 */
#define LEAST_BITS 9
#define MOST_BITS  27

/* Of a job in a block: what ranks of one host say to each other need not have more. */
#define MOST_OWN 4u

static oc_status_t not_an_address(const char *text, char *error, size_t error_size)
{
    snprintf(error, error_size, "\"%s\" is not an IPv4 address: a multicast address such as "
             "239.192.1.0, or a block such as 239.192.64.0/18, is needed", text);
    return OC_ERR_INVALID;
}

static oc_status_t check(const char *text, uint32_t first, unsigned count, char *error,
                         size_t error_size)
{
    if (first < FIRST_MULTICAST || first > LAST_MULTICAST) {
        snprintf(error, error_size, "\"%s\" is not a multicast address: one from 224.0.1.0 to "
                 "239.255.255.255 is needed", text);
    } else if (first < FIRST_USABLE) {
        snprintf(error, error_size, "the multicast address \"%s\" is in 224.0.0.0/24, which is "
                 "for routing protocols: one from 224.0.1.0 on is needed", text);
    } else if (LAST_MULTICAST - first < count - 1) {
        snprintf(error, error_size, "the %u addresses from \"%s\" on end behind 239.255.255.255, "
                 "the last multicast address: a lower one is needed", count, text);
    } else {
        return OC_OK;
    }
    return OC_ERR_INVALID;
}

/* The job's place in a block. */
static void settle(oc_multicast_range_t *range, const uint8_t *job_id, unsigned count)
{
    uint64_t hash = oc_hash(OC_HASH_START, job_id, OC_JOB_ID_SIZE);

    range->num_own = count < MOST_OWN ? count : MOST_OWN;
    range->own = range->block
                 + (uint32_t) (hash % (range->size - OC_MULTICAST_SPARES - range->num_own + 1));
}

/* slash: in text. */
static oc_status_t read_block(const char *text, const char *slash, oc_multicast_range_t *range,
                              char *error, size_t error_size)
{
    char head[INET_ADDRSTRLEN] = "", *end;
    size_t length = (size_t) (slash - text);
    long bits = strtol(slash + 1, &end, 10);
    struct in_addr first;

    if (length < sizeof(head)) {
        memcpy(head, text, length);
    }
    if (1 != inet_pton(AF_INET, head, &first)) {
        return not_an_address(text, error, error_size);
    }
    if (slash[1] < '0' || slash[1] > '9' || '\0' != *end || bits < LEAST_BITS
        || bits > MOST_BITS) {
        snprintf(error, error_size, "\"%s\" is not a block of multicast addresses: a number from "
                 "%d to %d is needed behind the slash", text, LEAST_BITS, MOST_BITS);
        return OC_ERR_INVALID;
    }
    range->block = ntohl(first.s_addr);
    range->size = 1u << (32 - bits);
    if (0 != range->block % range->size) {
        snprintf(error, error_size, "the block \"%s\" does not begin at this address: all bits "
                 "but the first %ld have to be 0", text, bits);
        return OC_ERR_INVALID;
    }
    return check(text, range->block, range->size, error, error_size);
}

oc_status_t oc_multicast_range(const char *text, const uint8_t *job_id, unsigned count,
                               oc_multicast_range_t *range, char *error, size_t error_size)
{
    const char *slash = NULL != text ? strchr(text, '/') : NULL;
    struct in_addr first;

    if (NULL != slash) {
        if (OC_OK != read_block(text, slash, range, error, error_size)) {
            return OC_ERR_INVALID;
        }
        settle(range, job_id, count);
        return OC_OK;
    }
    if (NULL == text || '\0' == text[0]) {
        range->block = SCOPE;
        range->size = SCOPE_SIZE;
        settle(range, job_id, count);
        return OC_OK;
    }
    if (1 != inet_pton(AF_INET, text, &first)) {
        return not_an_address(text, error, error_size);
    }
    range->block = range->own = ntohl(first.s_addr);
    range->size = range->num_own = count;
    return check(text, range->block, count, error, error_size);
}

static struct in_addr address_of(uint32_t number)
{
    return (struct in_addr) {.s_addr = htonl(number)};
}

struct in_addr oc_multicast_common(const oc_multicast_range_t *range)
{
    return address_of(range->own);
}

/* Evenly, also for the few bits that a small number is made of. */
static uint32_t pick(uint64_t hash, uint32_t count)
{
    return (uint32_t) ((hash ^ hash >> 32) % count);
}

struct in_addr oc_multicast_of_set(const oc_multicast_range_t *range, uint64_t hash, bool local)
{
    uint32_t taken = range->num_own + OC_MULTICAST_SPARES;

    if (local || 1 == range->size) {
        return address_of(range->own + pick(hash, range->num_own));
    }
    if (range->size == range->num_own) {
        return address_of(range->own + 1 + pick(hash, range->num_own - 1));
    }
    return address_of(range->block
                      + (range->own - range->block + taken + pick(hash, range->size - taken))
                            % range->size);
}

struct in_addr oc_multicast_trial(const oc_multicast_range_t *range, uint64_t token)
{
    return range->size == range->num_own ? oc_multicast_spare(range, 0)
                                         : oc_multicast_of_set(range, token, false);
}

struct in_addr oc_multicast_spare(const oc_multicast_range_t *range, unsigned number)
{
    bool behind = LAST_MULTICAST - range->own >= range->num_own + OC_MULTICAST_SPARES - 1;

    return address_of(behind ? range->own + range->num_own + number : range->own - 1 - number);
}

bool oc_multicast_is_scoped(const oc_multicast_range_t *range)
{
    return range->block >= FIRST_SCOPED && LAST_MULTICAST - range->block >= range->size - 1;
}
