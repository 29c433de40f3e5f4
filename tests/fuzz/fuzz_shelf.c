/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fuzz target: a shelf whose owner lays out messages, whose readers take places that make sense or not,
 * and whose memory somebody else writes to. What nobody wrote over arrives once, as it was laid out.
 */
/* Test: default 5; all 60 */
#include "multicast/peers/shelf.h"
#include "tests/fuzz/input.h"

#define READERS  3
#define MESSAGE  100u

/*
 * A message that may still lie there. One that was taken does for the owner as long as it has not looked,
 * and for ever if somebody writes over it before.
 */
typedef struct {
    bool lies, taken, damaged;
    unsigned reader;
    oc_cast_place_t place;
    uint8_t bytes[MESSAGE];
} laid_t;

static oc_shelf_t *shelf;
static oc_shelf_view_t *view;
static oc_segment_t *memory;     /* the stranger's */
static laid_t laid[OC_SHELF_SLOTS];
static const char readers[READERS];

static void begin(void)
{
    uint8_t name[OC_SEGMENT_NAME_SIZE];
    char error[160];

    check(OC_OK == oc_shelf_open(MESSAGE, &shelf, error, sizeof(error)));
    oc_shelf_name(shelf, name);
    check(OC_OK == oc_shelf_view_open(name, MESSAGE, &view, error, sizeof(error))
          && oc_shelf_view_is(view, name));
    check(OC_OK != oc_shelf_view_open(name, MESSAGE + 64, &(oc_shelf_view_t *) {NULL}, error,
                                      sizeof(error)));
    check(OC_OK == oc_segment_attach(name, &memory, error, sizeof(error)));
    memset(laid, 0, sizeof(laid));
}

static void end(void)
{
    oc_segment_close(memory);
    oc_shelf_view_close(view);
    oc_shelf_close(shelf);
}

static bool may_be_held(const laid_t *entry, unsigned reader)
{
    return entry->reader == reader && (entry->lies || (entry->taken && entry->damaged));
}

static unsigned held_by(unsigned reader, bool damaged)
{
    unsigned count = 0;

    for (unsigned i = 0; i < OC_SHELF_SLOTS; i++) {
        count += may_be_held(&laid[i], reader) && (damaged || !laid[i].damaged);
    }
    return count;
}

static void lay(input_t *input)
{
    unsigned reader = (unsigned) input_number(input, 1) % READERS;
    size_t length = input_number(input, 1), head;
    uint8_t bytes[UINT8_MAX];
    oc_cast_place_t place;
    laid_t *entry;

    input_bytes(input, bytes, length);
    head = length / 3;
    if (!oc_shelf_lay(shelf, &readers[reader], bytes, head, bytes + head, length - head, &place)) {
        check(length > MESSAGE || held_by(reader, true) >= OC_SHELF_SHARE);
        return;
    }
    check(length <= MESSAGE && place.length == length && place.slot < OC_SHELF_SLOTS
          && held_by(reader, false) < OC_SHELF_SHARE);
    entry = &laid[place.slot];
    check(!entry->lies || entry->damaged);
    *entry = (laid_t) {.lies = true, .reader = reader, .place = place};
    memcpy(entry->bytes, bytes, length);
}

static bool is_place(const laid_t *entry, const oc_cast_place_t *place)
{
    return entry->lies && entry->place.generation == place->generation;
}

static void take_place(const oc_cast_place_t *place)
{
    uint8_t *bytes = malloc(MESSAGE);
    laid_t *entry = place->slot < OC_SHELF_SLOTS ? &laid[place->slot] : NULL;

    if (oc_shelf_take(view, place, bytes)) {
        check(NULL != entry && place->length <= MESSAGE);
        check(entry->damaged || is_place(entry, place));
        if (!entry->damaged && place->length <= entry->place.length) {
            check(0 == memcmp(bytes, entry->bytes, place->length));
        }
        entry->taken = entry->taken || entry->lies;
        entry->lies = entry->lies && entry->damaged;
    } else {
        check(NULL == entry || entry->damaged || place->length > MESSAGE
              || !is_place(entry, place));
    }
    free(bytes);
}

static void take(input_t *input)
{
    oc_cast_place_t place;

    input_bytes(input, &place, sizeof(place));
    take_place(&place);
}

static void take_laid(input_t *input)
{
    oc_cast_place_t place = laid[input_number(input, 1) % OC_SHELF_SLOTS].place;

    take_place(&place);
    take_place(&place);
}

static void each(void *arg, const uint8_t *bytes, size_t length)
{
    unsigned reader = *(const unsigned *) arg, found = 0;

    check(length <= MESSAGE);
    for (unsigned i = 0; i < OC_SHELF_SLOTS; i++) {
        const laid_t *entry = &laid[i];

        found += may_be_held(entry, reader) && entry->place.length == length
                 && (entry->damaged || 0 == memcmp(bytes, entry->bytes, length));
    }
    check(found > 0);
}

static void clear(input_t *input)
{
    unsigned reader = (unsigned) input_number(input, 1) % READERS;

    oc_shelf_clear(shelf, &readers[reader], each, &reader);
    for (unsigned i = 0; i < OC_SHELF_SLOTS; i++) {
        if (laid[i].reader == reader) {
            laid[i].lies = laid[i].taken = false;
        }
    }
}

static void scribble(input_t *input)
{
    size_t size = oc_segment_size(memory), stride = size / OC_SHELF_SLOTS;
    size_t slot = input_number(input, 1) % OC_SHELF_SLOTS, at = input_number(input, 1) % stride;
    uint64_t what = input_number(input, 8);

    at = at + sizeof(what) <= stride ? at : stride - sizeof(what);
    memcpy((uint8_t *) oc_segment_memory(memory) + slot * stride + at, &what, sizeof(what));
    laid[slot].damaged = true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static void (*const steps[])(input_t *) = {lay, take, take_laid, clear, scribble};
    input_t input = {data, data + size};

    begin();
    while (input.at < input.end) {
        steps[input_number(&input, 1) % (sizeof(steps) / sizeof(steps[0]))](&input);
    }
    end();
    return 0;
}
