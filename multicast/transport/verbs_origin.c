/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * InfiniBand and RoCE 1 have a GRH there, and RoCE 2 the header of IPv6, both with the sender's
 * address from byte 8 on; or that of IPv4, which takes the last 20 bytes, and nobody knows what is
 * in the first.
 */
#include "multicast/transport/verbs_origin.h"

#include <string.h>

#define IPV4_AT      20u
#define IPV4_SOURCE  12u
#define VERSION_6    0x60
#define VERSION_4    0x45   /* and a header of five words */
#define PROTOCOL_UDP 17

/* Of IPv4, UDP, the headers of UD and the checksum at the end; up to 3 bytes fill it up. */
#define ROCE_BYTES (20u + 8u + 12u + 8u + 4u)

static bool is_ipv4(const uint8_t *header, size_t payload)
{
    size_t total = (size_t) header[2] << 8 | header[3];

    return VERSION_4 == header[0] && PROTOCOL_UDP == header[9] && total >= ROCE_BYTES + payload
           && total <= ROCE_BYTES + payload + 3;
}

oc_origin_t oc_verbs_origin(const uint8_t *bytes, size_t length)
{
    oc_origin_t origin = {.port = 0};

    if (is_ipv4(bytes + IPV4_AT, length - OC_VERBS_GRH)) {
        origin.address[10] = origin.address[11] = 0xff;
        memcpy(origin.address + 12, bytes + IPV4_AT + IPV4_SOURCE, 4);
    } else if (VERSION_6 == (bytes[0] & 0xf0)) {
        memcpy(origin.address, bytes + 8, sizeof(origin.address));
    }
    return origin;
}
