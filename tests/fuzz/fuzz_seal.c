/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fuzz target: any bytes as a message, note or datagram with a code. Without the key no code fits; with
 * it, one byte that is changed, or another group, receiver or operation, makes it a wrong one.
 */
/* Test: default 5; all 60 */
#include "multicast/core/cast_seal.h"
#include "multicast/peers/note.h"
#include "protocol/seal.h"
#include "tests/fuzz/input.h"

#define LARGEST 2048

typedef struct {
    uint8_t bytes[LARGEST];
    size_t length;
    uint64_t group;              /* of a data message; generation of a datagram; era */
    uint32_t place;              /* of the aggregator, or who receives it */
} letter_t;

typedef struct {
    bool (*fits)(const letter_t *letter);
    bool (*seal)(letter_t *letter);
    bool has_group, has_place;
} kind_t;

static const uint8_t key[OC_JOB_KEY_SIZE] = "a key that no input of this has.";
static oc_mac_t *requests, *notes;
static oc_cast_seal_t *cast;

static bool request_fits(const letter_t *letter)
{
    oc_header_t header;

    return OC_OK == oc_header_decode(letter->bytes, letter->length, &header)
           && oc_is_sealed(requests, letter->group, letter->place, &header, letter->bytes,
                           letter->length);
}

static bool request_seal(letter_t *letter)
{
    oc_header_t header;

    if (OC_OK != oc_header_decode(letter->bytes, letter->length, &header)) {
        return false;
    }
    oc_seal(requests, letter->group, letter->place, &header, letter->bytes, letter->length);
    return true;
}

static bool datagram_fits(const letter_t *letter)
{
    oc_datagram_t datagram;

    return oc_datagram_decode(letter->bytes, letter->length, &datagram)
           && oc_cast_seal_fits_datagram(cast, letter->group, &datagram, letter->bytes);
}

static bool datagram_seal(letter_t *letter)
{
    oc_datagram_t datagram;

    if (!oc_datagram_decode(letter->bytes, letter->length, &datagram)) {
        return false;
    }
    oc_cast_seal_datagram(cast, letter->group, &datagram, letter->bytes + OC_DATAGRAM_HEADER,
                          letter->bytes);
    return true;
}

static bool message_fits(const letter_t *letter)
{
    oc_cast_message_t message;

    return oc_cast_decode(letter->bytes, letter->length, &message)
           && oc_cast_seal_fits_message(cast, (uint32_t) letter->group, letter->place, &message,
                                        letter->bytes, letter->length);
}

static bool message_seal(letter_t *letter)
{
    oc_cast_message_t message;

    if (!oc_cast_decode(letter->bytes, letter->length, &message)) {
        return false;
    }
    oc_cast_seal_message(cast, (uint32_t) letter->group, letter->place, &message, letter->bytes,
                         letter->length - message.data_length);
    return true;
}

static bool note_fits(const letter_t *letter)
{
    oc_note_t note;

    return oc_note_decode(letter->bytes, letter->length, &note)
           && oc_note_fits(notes, letter->place, &note, letter->bytes);
}

static bool note_seal(letter_t *letter)
{
    oc_note_t note;

    if (!oc_note_decode(letter->bytes, letter->length, &note)) {
        return false;
    }
    oc_note_seal(notes, letter->place, &note, letter->bytes);
    return true;
}

static const kind_t kinds[] = {{request_fits, request_seal, true, true},
                               {datagram_fits, datagram_seal, true, false},
                               {message_fits, message_seal, true, true},
                               {note_fits, note_seal, false, true}};

static void make_keys(void)
{
    if (NULL == requests) {
        requests = oc_seal_new(key, 0);
        notes = oc_mac_new(key, sizeof(key), OC_NOTE_PURPOSE, NULL, 0);
        cast = oc_cast_seal_new(key, 42);
        check(NULL != requests && NULL != notes && NULL != cast);
    }
}

/* A group's number without that of its team, of as many bits as all nonces have room for. */
static void address(letter_t *letter, input_t *input)
{
    letter->group = input_number(input, 2) << 16;
    letter->place = (uint32_t) input_number(input, 2);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    input_t input = {data, data + size};
    const kind_t *kind = &kinds[input_number(&input, 1) % (sizeof(kinds) / sizeof(kinds[0]))];
    size_t changed = input_number(&input, 2);
    uint8_t difference = (uint8_t) input_number(&input, 1);
    letter_t letter, elsewhere;

    make_keys();
    address(&letter, &input);
    letter.length = (size_t) (input.end - input.at);
    if (letter.length > LARGEST || 0 == letter.length) {
        return 0;
    }
    input_bytes(&input, letter.bytes, letter.length);
    check(!kind->fits(&letter));
    if (!kind->seal(&letter)) {
        return 0;
    }
    check(kind->fits(&letter));
    elsewhere = letter;
    elsewhere.place ^= 1;
    check(kind->fits(&elsewhere) == !kind->has_place);
    elsewhere = letter;
    elsewhere.group += 1 << 16;
    check(kind->fits(&elsewhere) == !kind->has_group);
    letter.bytes[changed % letter.length] ^= difference;
    check(kind->fits(&letter) == (0 == difference));
    return 0;
}
