/* SPDX-License-Identifier: BSD-3-Clause */
/* Checks and makes ranges of multicast addresses; numbers are in host byte order inside. */
#include "multicast/transport/cast_address.h"

#include <arpa/inet.h>
#include <stdio.h>

#include "base/limits.h"
#include "base/text.h"

#define FIRST_MULTICAST 0xe0000000u /* 224.0.0.0 */
#define LAST_MULTICAST  0xefffffffu /* 239.255.255.255 */
#define FIRST_USABLE    0xe0000100u /* 224.0.1.0 */
#define FIRST_SCOPED    0xef000000u /* 239.0.0.0 */
#define SCOPE           0xefc00000u /* 239.192.0.0 */
#define SCOPE_SIZE      0x00040000u /* /14 */

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

oc_status_t oc_multicast_range(const char *text, const uint8_t *job_id, unsigned count,
                               struct in_addr *first, char *error, size_t error_size)
{
    if (NULL == text || '\0' == text[0]) {
        uint64_t hash = oc_hash(OC_HASH_START, job_id, OC_JOB_ID_SIZE);

        hash %= SCOPE_SIZE - OC_MULTICAST_SPARES - count + 1;
        first->s_addr = htonl(SCOPE + (uint32_t) hash);
        return OC_OK;
    }
    if (1 != inet_pton(AF_INET, text, first)) {
        snprintf(error, error_size, "\"%s\" is not an IPv4 address: a multicast address such as "
                 "239.192.1.0 is needed", text);
        return OC_ERR_INVALID;
    }
    return check(text, ntohl(first->s_addr), count, error, error_size);
}

struct in_addr oc_multicast_slot(struct in_addr first, unsigned slot)
{
    return (struct in_addr) {.s_addr = htonl(ntohl(first.s_addr) + slot)};
}

struct in_addr oc_multicast_spare(struct in_addr first, unsigned count, unsigned number)
{
    uint32_t start = ntohl(first.s_addr);
    bool behind = LAST_MULTICAST - start >= count + OC_MULTICAST_SPARES - 1;

    return (struct in_addr) {.s_addr = htonl(behind ? start + count + number : start - 1 - number)};
}

bool oc_multicast_is_scoped(struct in_addr first, unsigned count)
{
    uint32_t start = ntohl(first.s_addr);

    return start >= FIRST_SCOPED && LAST_MULTICAST - start >= count - 1;
}
