/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fuzz target: any bytes as a message between ranks or a note; what is accepted says what it means.
 */
/* Test: default 5; all 60 */
#include <stdlib.h>
#include <string.h>

#include "base/mac.h"
#include "multicast/peers/note.h"
#include "multicast/wire/cast_message.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_note(const uint8_t *data, size_t size)
{
    uint8_t again[OC_NOTE_SIZE];
    oc_note_t note;

    if (!oc_note_decode(data, size, &note)) {
        return;
    }
    oc_note_encode(&note, again);
    if (OC_NOTE_SIZE != size || note.kind < OC_NOTE_LAID || note.kind >= OC_NOTE_KINDS
        || 0 != memcmp(again + OC_MAC_SIZE, data + OC_MAC_SIZE, size - OC_MAC_SIZE)) {
        abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint8_t again[OC_CAST_HEAD_MAX], expected[OC_CAST_HEAD_MAX];
    oc_cast_message_t message;
    uint64_t token;
    size_t head;

    check_note(data, size);
    if (!oc_cast_decode(data, size, &message)) {
        (void) oc_cast_decode_token(data, size, &token);
        return 0;
    }
    if (!oc_cast_decode_token(data, size, &token) || token != message.token) {
        abort();
    }
    if (message.kind < OC_CAST_PROBE_REQUEST || message.kind >= OC_CAST_KINDS
        || message.num_ranges > OC_CAST_MAX_RANGES || message.data_length > size
        || message.data + message.data_length != data + size) {
        abort();
    }
    head = oc_cast_encode(&message, again);
    if (head != size - message.data_length) {
        abort();
    }
    memcpy(expected, data, head);
    memset(expected, 0, OC_MAC_SIZE); /* nobody has made it yet */
    if (OC_CAST_REPAIR == message.kind) {
        /* any number that is not 0 is true */
        expected[52] = 0 != expected[52];
    }
    if (0 != memcmp(again, expected, head)) {
        abort();
    }
    return 0;
}
