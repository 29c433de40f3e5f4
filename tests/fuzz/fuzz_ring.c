/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fuzz target: a ring whose other members write anything into their memory, and fail with any words.
 * This member may be told wrong things, but is led nowhere, and its own numbers are what it did.
 */
/* Test: default 5; all 60 */
#include "node/ring.h"
#include "tests/fuzz/input.h"

#define MEMBERS  3
#define SELF     0
#define CAPACITY 3

static const oc_ring_shape_t shape = {.capacity = CAPACITY, .place_size = 64};

typedef struct {
    oc_ring_t *ring;
    oc_segment_t *others[MEMBERS];   /* as those write to them; and to this member's */
    uint64_t given, taken, committed;
    uint32_t owners[CAPACITY];
    unsigned limit;
} crew_t;

static oc_doorbell_t *bell;

static void begin(crew_t *crew, input_t *input)
{
    oc_ring_member_t members[MEMBERS];
    uint8_t name[OC_SEGMENT_NAME_SIZE];
    char error[160];

    *crew = (crew_t) {.limit = (unsigned) input_number(input, 1)};
    check(NULL != bell || OC_OK == oc_doorbell_open(&bell, error, sizeof(error)));
    for (uint32_t i = 0; i < MEMBERS; i++) {
        check(OC_OK == oc_segment_create(oc_ring_segment_size(&shape), &members[i].segment, error,
                                         sizeof(error)));
        oc_segment_name(members[i].segment, name);
        check(OC_OK == oc_segment_attach(name, &crew->others[i], error, sizeof(error)));
        input_bytes(input, members[i].bell, sizeof(members[i].bell));
    }
    check(OC_OK == oc_ring_open(&shape, members, MEMBERS, SELF, bell, &crew->ring));
    oc_ring_limit(crew->ring, crew->limit);
    crew->limit = crew->limit > 0 && crew->limit < CAPACITY ? crew->limit : CAPACITY;
}

static void end(crew_t *crew)
{
    oc_ring_close(crew->ring);
    for (uint32_t i = 0; i < MEMBERS; i++) {
        oc_segment_close(crew->others[i]);
    }
}

/* 8 bytes of a head, or of what follows; of this member's own memory others write the mark only. */
static void scribble(crew_t *crew, input_t *input)
{
    uint32_t member = (uint32_t) input_number(input, 1) % MEMBERS;
    size_t at = input_number(input, 2) % (oc_segment_size(crew->others[member]) - 8);
    uint64_t what = input_number(input, 8);
    uint8_t *memory = oc_segment_memory(crew->others[member]);

    if (SELF == member) {
        memcpy(memory + 256, &what, 4);
    } else {
        memcpy(memory + at, &what, sizeof(what));
    }
}

/* As a member that makes no mistakes says that it has done something. */
static void advance(crew_t *crew, input_t *input)
{
    uint32_t member = 1 + (uint32_t) input_number(input, 1) % (MEMBERS - 1);
    uint64_t *counts = oc_segment_memory(crew->others[member]);

    counts[input_number(input, 1) % 3 * 8]++;
}

static void give(crew_t *crew, input_t *input)
{
    uint32_t owner = (uint32_t) input_number(input, 1) % MEMBERS;
    uint64_t step = oc_ring_given(crew->ring);

    check(step == crew->given);
    if (oc_ring_has_room(crew->ring)) {
        /* a place is not used again before its step is over here */
        check(step < crew->limit || crew->taken > step - crew->limit);
        memset(oc_ring_place(crew->ring, SELF, step), 0x5a, shape.place_size);
        oc_ring_give(crew->ring, input_number(input, 1), owner);
        crew->owners[step % CAPACITY] = owner;
        crew->given++;
    }
}

static void gather(crew_t *crew, input_t *input)
{
    uint64_t step = crew->taken;
    uint32_t member = MEMBERS;
    oc_status_t status;

    (void) input;
    if (crew->given == crew->taken || SELF != crew->owners[step % CAPACITY]) {
        return;
    }
    status = oc_ring_has_gathered(crew->ring, step, &member);
    check(OC_ERR_MISMATCH == status ? member < MEMBERS && SELF != member
                                    : OC_OK == status || OC_IN_PROGRESS == status);
    if (OC_OK == status) {
        oc_ring_publish(crew->ring, step);
        check(oc_ring_is_published(crew->ring, SELF, step));
    }
}

static void take(crew_t *crew, input_t *input)
{
    uint64_t step = crew->taken;
    uint32_t owner = crew->owners[step % CAPACITY];
    volatile uint8_t *place;

    (void) input;
    check(oc_ring_taken(crew->ring) == step);
    if (crew->given > step && oc_ring_is_published(crew->ring, owner, step)) {
        place = oc_ring_place(crew->ring, owner, step);
        (void) place[0];
        (void) place[shape.place_size - 1];
        oc_ring_take(crew->ring, owner);
        crew->taken++;
    }
}

static void commit(crew_t *crew, input_t *input)
{
    crew->committed += input_number(input, 1);
    oc_ring_commit(crew->ring, crew->committed);
    check(oc_ring_committed(crew->ring) <= crew->committed);
}

static void fail(crew_t *crew, input_t *input)
{
    char text[OC_RING_TEXT_SIZE] = "";

    (void) input;
    memset(text, 'x', sizeof(text) - 1);
    oc_ring_fail(crew->ring, text);
}

static void hear(crew_t *crew, input_t *input)
{
    char text[OC_RING_TEXT_SIZE];
    uint32_t member = MEMBERS;

    (void) input;
    memset(text, 1, sizeof(text));
    if (oc_ring_has_failed(crew->ring, &member, text)) {
        check(member < MEMBERS && NULL != memchr(text, '\0', sizeof(text)));
        for (size_t i = 0; '\0' != text[i]; i++) {
            check(text[i] >= ' ' && text[i] <= '~');
        }
    }
}

static void arm(crew_t *crew, input_t *input)
{
    oc_ring_arm(crew->ring);
    if (input_number(input, 1) & 1) {
        oc_ring_disarm(crew->ring);
    }
    (void) oc_doorbell_listen(bell);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static void (*const steps[])(crew_t *, input_t *) = {scribble, advance, give, gather, take,
                                                         commit,   fail,    hear, arm};
    input_t input = {data, data + size};
    crew_t crew;

    begin(&crew, &input);
    while (input.at < input.end) {
        steps[input_number(&input, 1) % (sizeof(steps) / sizeof(steps[0]))](&crew, &input);
    }
    end(&crew);
    return 0;
}
