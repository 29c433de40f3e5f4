/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Offsets: 0 code, 16 "OM", 18 version, 19 kind, 20 generation, 24 token, 32 index, 36 rank,
 * 38 length; numbers are little-endian.
 */
#include "multicast/wire/datagram.h"

#include <string.h>

#include "base/wire.h"

#define MAGIC 0x4d4f

void oc_datagram_encode(const oc_datagram_t *datagram, uint8_t header[OC_DATAGRAM_HEADER])
{
    oc_writer_t w = {.at = header + OC_MAC_SIZE, .end = header + OC_DATAGRAM_HEADER};

    memset(header, 0, OC_MAC_SIZE);
    oc_put(&w, MAGIC, 2);
    oc_put(&w, OC_DATAGRAM_VERSION, 1);
    oc_put(&w, (uint64_t) datagram->kind, 1);
    oc_put(&w, datagram->generation, 4);
    oc_put(&w, datagram->token, 8);
    oc_put(&w, datagram->index, 4);
    oc_put(&w, datagram->rank, 2);
    oc_put(&w, datagram->length, 2);
}

bool oc_datagram_decode(const uint8_t *bytes, size_t length, oc_datagram_t *datagram)
{
    oc_reader_t r = {.at = bytes, .end = bytes + length};
    uint64_t magic, version, kind;

    (void) oc_get_bytes(&r, OC_MAC_SIZE);
    magic = oc_get(&r, 2);
    version = oc_get(&r, 1);
    kind = oc_get(&r, 1);
    datagram->kind = (oc_datagram_kind_t) kind;
    datagram->generation = (uint32_t) oc_get(&r, 4);
    datagram->token = oc_get(&r, 8);
    datagram->index = (uint32_t) oc_get(&r, 4);
    datagram->rank = (uint32_t) oc_get(&r, 2);
    datagram->length = (uint16_t) oc_get(&r, 2);
    return !r.bad && MAGIC == magic && OC_DATAGRAM_VERSION == version
           && kind >= OC_DATAGRAM_FRAGMENT && kind <= OC_DATAGRAM_REPAIR
           && datagram->length == length - OC_DATAGRAM_HEADER;
}
