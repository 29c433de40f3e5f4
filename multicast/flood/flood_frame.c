/* SPDX-License-Identifier: BSD-3-Clause */
/* Codec of flood datagrams. What one is says all that is in it, so that it is its nonce as well. */
#include "multicast/flood/flood_frame.h"

#include "base/limits.h"
#include "base/wire.h"

#define MAGIC   0x464fu /* OF */
#define VERSION 1

oc_mac_t *oc_flood_seal_new(const uint8_t *job_key, uint64_t token)
{
    return oc_mac_new(job_key, OC_JOB_KEY_SIZE, "optcast multicast flood", &token, sizeof(token));
}

static oc_nonce_t flood_nonce(const oc_flood_frame_t *frame)
{
    return (oc_nonce_t) {.low = (uint64_t) frame->kind << 32 | frame->slot << 8 | frame->index};
}

void oc_flood_frame_encode(oc_mac_t *seal, uint64_t token, const oc_flood_frame_t *frame,
                           uint8_t bytes[OC_FLOOD_FRAME_SIZE])
{
    oc_writer_t w = {.at = bytes + OC_MAC_SIZE, .end = bytes + OC_FLOOD_FRAME_SIZE};

    oc_put(&w, MAGIC, 2);
    oc_put(&w, VERSION, 1);
    oc_put(&w, frame->kind, 1);
    oc_put(&w, frame->slot, 2);
    oc_put(&w, frame->index, 1);
    oc_put(&w, 0, 1);
    oc_put(&w, token, 8);
    oc_mac_sign(seal, flood_nonce(frame), bytes + OC_MAC_SIZE, OC_FLOOD_FRAME_SIZE - OC_MAC_SIZE,
                NULL, 0, bytes);
}

static bool flood_frame_is_valid(const oc_flood_frame_t *frame)
{
    return frame->kind < OC_FLOOD_FRAMES
           && frame->slot < OC_FLOOD_SLOTS + (OC_FLOOD_FRAME_MARK == frame->kind)
           && frame->index < (OC_FLOOD_FRAME_MARK == frame->kind ? 1 : OC_FLOOD_BURST);
}

bool oc_flood_frame_decode(uint64_t token, const uint8_t *bytes, size_t length,
                           oc_flood_frame_t *frame)
{
    oc_reader_t r = {.at = bytes, .end = bytes + length};

    (void) oc_get_bytes(&r, OC_MAC_SIZE);
    if (OC_FLOOD_FRAME_SIZE != length || MAGIC != oc_get(&r, 2) || VERSION != oc_get(&r, 1)) {
        return false;
    }
    frame->kind = (oc_flood_kind_t) oc_get(&r, 1);
    frame->slot = (uint32_t) oc_get(&r, 2);
    frame->index = (uint32_t) oc_get(&r, 1);
    return 0 == oc_get(&r, 1) && token == oc_get(&r, 8) && flood_frame_is_valid(frame);
}

bool oc_flood_frame_open(oc_mac_t *seal, uint64_t token, const uint8_t *bytes, size_t length,
                         oc_flood_frame_t *frame)
{
    return oc_flood_frame_decode(token, bytes, length, frame)
           && oc_mac_verify(seal, flood_nonce(frame), bytes + OC_MAC_SIZE,
                            OC_FLOOD_FRAME_SIZE - OC_MAC_SIZE, NULL, 0, bytes);
}
