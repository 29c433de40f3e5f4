/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Layout: 0 code (16), 16 "ON", version (1), kind (1), process (4), serial (8), name of the shelf
 * (32), slot (4), generation (4), length (4). The last three are 0 in REFUSED.
 */
#include "multicast/peers/note.h"

#include "base/wire.h"

#define MAGIC   0x4e4f
#define VERSION 2

void oc_note_encode(const oc_note_t *note, uint8_t bytes[OC_NOTE_SIZE])
{
    oc_writer_t w = {.at = bytes + OC_MAC_SIZE, .end = bytes + OC_NOTE_SIZE};
    oc_cast_place_t place = OC_NOTE_LAID == note->kind ? note->place : (oc_cast_place_t) {0};

    memset(bytes, 0, OC_MAC_SIZE);
    oc_put(&w, MAGIC, 2);
    oc_put(&w, VERSION, 1);
    oc_put(&w, (uint64_t) note->kind, 1);
    oc_put(&w, note->process, 4);
    oc_put(&w, note->serial, 8);
    oc_put_bytes(&w, note->shelf, OC_SEGMENT_NAME_SIZE);
    oc_put(&w, place.slot, 4);
    oc_put(&w, place.generation, 4);
    oc_put(&w, place.length, 4);
}

static bool note_is_zero(const oc_cast_place_t *place)
{
    return 0 == place->slot && 0 == place->generation && 0 == place->length;
}

bool oc_note_decode(const uint8_t *bytes, size_t length, oc_note_t *note)
{
    oc_reader_t r = {.at = bytes, .end = bytes + length};
    uint64_t magic, version;

    (void) oc_get_bytes(&r, OC_MAC_SIZE);
    magic = oc_get(&r, 2);
    version = oc_get(&r, 1);
    if (OC_NOTE_SIZE != length || MAGIC != magic || VERSION != version) {
        return false;
    }
    note->kind = (oc_note_kind_t) oc_get(&r, 1);
    note->process = (uint32_t) oc_get(&r, 4);
    note->serial = oc_get(&r, 8);
    memcpy(note->shelf, oc_get_bytes(&r, OC_SEGMENT_NAME_SIZE), OC_SEGMENT_NAME_SIZE);
    note->place.slot = (uint32_t) oc_get(&r, 4);
    note->place.generation = (uint32_t) oc_get(&r, 4);
    note->place.length = (uint32_t) oc_get(&r, 4);
    return OC_NOTE_LAID == note->kind
           || (OC_NOTE_REFUSED == note->kind && note_is_zero(&note->place));
}

static oc_nonce_t note_nonce_of(const oc_note_t *note, uint32_t receiver)
{
    return (oc_nonce_t) {.high = note->serial, .low = (uint64_t) note->process << 32 | receiver};
}

void oc_note_seal(oc_mac_t *mac, uint32_t receiver, const oc_note_t *note,
                  uint8_t bytes[OC_NOTE_SIZE])
{
    oc_mac_sign(mac, note_nonce_of(note, receiver), bytes + OC_MAC_SIZE, OC_NOTE_SIZE - OC_MAC_SIZE,
                NULL, 0, bytes);
}

bool oc_note_fits(oc_mac_t *mac, uint32_t receiver, const oc_note_t *note,
                  const uint8_t bytes[OC_NOTE_SIZE])
{
    return oc_mac_verify(mac, note_nonce_of(note, receiver), bytes + OC_MAC_SIZE,
                         OC_NOTE_SIZE - OC_MAC_SIZE, NULL, 0, bytes);
}
