/* SPDX-License-Identifier: BSD-3-Clause */
/* Fuzz target: any bytes as a multicast datagram; what is accepted says what it means. */
/* Test: quick 2; default 5; all 60 */
#include <stdlib.h>
#include <string.h>

#include "multicast/wire/datagram.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint8_t again[OC_DATAGRAM_HEADER];
    oc_datagram_t datagram;

    if (!oc_datagram_decode(data, size, &datagram)) {
        return 0;
    }
    oc_datagram_encode(&datagram, again);
    if (datagram.length + (size_t) OC_DATAGRAM_HEADER != size || datagram.rank > UINT16_MAX
        || 0 != memcmp(again + OC_MAC_SIZE, data + OC_MAC_SIZE, sizeof(again) - OC_MAC_SIZE)) {
        abort();
    }
    return 0;
}
