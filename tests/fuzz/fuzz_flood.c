/* SPDX-License-Identifier: BSD-3-Clause */
/* Fuzz target: any bytes as a datagram of a flood test; what is accepted says what it means. */
/* Test: quick 2; default 5; all 60 */
#include "base/limits.h"
#include "multicast/flood/flood_frame.h"
#include "tests/fuzz/input.h"

#define TOKEN 0x6a6a6a6a6a6a6a6aull

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const uint8_t key[OC_JOB_KEY_SIZE];
    static oc_mac_t *seal;
    uint8_t again[OC_FLOOD_FRAME_SIZE];
    oc_flood_frame_t frame, second;

    if (NULL == seal) {
        seal = oc_flood_seal_new(key, TOKEN);
        check(NULL != seal);
    }
    if (!oc_flood_frame_decode(TOKEN, data, size, &frame)) {
        return 0;
    }
    check(frame.slot <= OC_FLOOD_SLOTS && frame.index < OC_FLOOD_BURST);
    oc_flood_frame_encode(seal, TOKEN, &frame, again);
    check(size == sizeof(again)
          && 0 == memcmp(data + OC_MAC_SIZE, again + OC_MAC_SIZE, size - OC_MAC_SIZE));
    check(oc_flood_frame_open(seal, TOKEN, again, sizeof(again), &second));
    return 0;
}
