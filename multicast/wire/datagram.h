/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The header of a multicast datagram; doc/multicast.md has the layout. A fragment is attributed by
 * it alone, and its code proves that it is true (multicast/core/cast_seal.h). Pure functions, any
 * thread.
 */
#ifndef OC_MULTICAST_WIRE_DATAGRAM_H
#define OC_MULTICAST_WIRE_DATAGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/mac.h"

#define OC_DATAGRAM_HEADER  (24 + OC_MAC_SIZE)
#define OC_DATAGRAM_VERSION 4

/* Datagrams smaller than this are not worth it; larger ones no network carries. */
#define OC_DATAGRAM_MIN 256u
#define OC_DATAGRAM_MAX 65507u

typedef enum {
    OC_DATAGRAM_FRAGMENT = 1, /* a part of a block */
    OC_DATAGRAM_PROBE = 2,    /* zeros, as many as a fragment has: does the network carry multicast? */
    OC_DATAGRAM_REPAIR = 3,   /* a part of a block, sent again by any rank */
} oc_datagram_kind_t;

typedef struct {
    oc_datagram_kind_t kind;
    uint64_t token;           /* of the group: random */
    uint32_t generation;      /* number of the operation in the group */
    uint32_t rank;            /* of the sender in the group; of a REPAIR: of the block's owner */
    uint32_t index;           /* of the fragment in its block */
    uint16_t length;          /* of the payload in bytes */
} oc_datagram_t;

/* With a code of zeros. */
void oc_datagram_encode(const oc_datagram_t *datagram, uint8_t header[OC_DATAGRAM_HEADER]);

/*
 * bytes: a whole datagram as it came. false: it is none of this protocol and version, or its
 * length is not what its header says. Whether its code fits is not known here.
 */
bool oc_datagram_decode(const uint8_t *bytes, size_t length, oc_datagram_t *datagram);

#endif
