/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Owns the tests of strangers, who see all that ranks send and lack the key: what they make up,
 * alter or play back changes no result, ends no group, and makes nobody fetch anything again.
 *
 * Test: quick 60
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "multicast/core/cast_types.h"
#include "multicast/core/crc32c.h"
#include "tests/multicast/fixture.h"
#include "tests/random.h"

#define RANKS    4
#define KIND_AT 19 /* in a message */
#define PAYLOAD  (1472 - OC_DATAGRAM_HEADER)
#define SMALL    64
#define LARGE    (100 * PAYLOAD)
#define LATE     (10 * OC_MILLISECOND)
#define PATIENCE (20 * OC_SECOND)

/* What a stranger has seen. */
typedef struct {
    unsigned from, to;
    size_t length;
    uint8_t *bytes;
} sight_t;

typedef struct {
    sight_t *all;
    size_t count, room;
} sights_t;

static sights_t datagrams, messages;
static bool watching;
static bool deaf;                    /* rank 0 gets no probes */

static void note(sights_t *sights, unsigned from, unsigned to, const uint8_t *bytes, size_t length)
{
    if (sights->count == sights->room) {
        sights->room = 2 * sights->room + 64;
        sights->all = realloc(sights->all, sights->room * sizeof(sight_t));
        assert_non_null(sights->all);
    }
    sights->all[sights->count] = (sight_t) {from, to, length, malloc(length)};
    assert_non_null(sights->all[sights->count].bytes);
    memcpy(sights->all[sights->count++].bytes, bytes, length);
}

static void forget(sights_t *sights)
{
    for (size_t i = 0; i < sights->count; i++) {
        free(sights->all[i].bytes);
    }
    free(sights->all);
    *sights = (sights_t) {NULL, 0, 0};
}

static bool see_datagram(void *arg, unsigned from, unsigned to, uint8_t *bytes, size_t length)
{
    oc_datagram_t header;

    (void) arg;
    assert_true(oc_datagram_decode(bytes, length, &header));
    if (OC_DATAGRAM_PROBE == header.kind) {
        return !deaf || 0 != to;
    }
    if (watching) {
        note(&datagrams, from, to, bytes, length);
    }
    return true;
}

static bool see_message(void *arg, unsigned from, unsigned to, uint8_t *bytes, size_t length)
{
    (void) arg;
    if (watching) {
        note(&messages, from, to, bytes, length);
    }
    return true;
}

static int set_up(void **state)
{
    (void) set_up_crew(state);
    config.network.meddler = (meddler_t) {.datagram = see_datagram, .message = see_message};
    watching = deaf = false;
    return 0;
}

static int tear_down(void **state)
{
    forget(&datagrams);
    forget(&messages);
    return tear_down_crew(state);
}

/* An operation that all but the last rank have entered, in whose name strangers can speak now. */
static void begin_with(operation_t operation)
{
    begin_crew(RANKS);
    expect_probed();
    operation.blocking = true;
    operation.compute[RANKS - 1] = LATE;
    (void) crew_add(crew, &operation);
    assert_false(network_run(crew_network(crew), now() + LATE / 2, NULL, NULL));
}

static void expect_no_harm(void)
{
    expect_success(PATIENCE);
    assert_int_equal(crew_totals(crew).blocks_corrupted, 0);
    assert_int_equal(crew_totals(crew).fragments_lost, 0);
}

/* ---- datagrams ---- */

/* Everything is right but the code: a block of rank 1, with its checksum. */
static void forge_block(unsigned to, uint8_t code, uint64_t when)
{
    uint8_t bytes[OC_DATAGRAM_HEADER + SMALL + OC_CAST_TRAILER];
    oc_datagram_t header = {.kind = OC_DATAGRAM_FRAGMENT, .token = crew_token(crew),
                            .generation = 1, .rank = 1, .length = SMALL + OC_CAST_TRAILER};
    uint32_t crc;

    memset(bytes, 0x77, sizeof(bytes));
    crc = oc_crc32c(0, bytes + OC_DATAGRAM_HEADER, SMALL);
    memcpy(bytes + OC_DATAGRAM_HEADER + SMALL, &crc, sizeof(crc));
    oc_datagram_encode(&header, bytes);
    memset(bytes, code, OC_MAC_SIZE);
    network_forge_datagram(crew_network(crew), 1, to, bytes, sizeof(bytes), when);
}

static void test_block_before_its_owners(void **state)
{
    (void) state;
    begin_with((operation_t) {.block = SMALL});
    for (unsigned code = 0; code < 256; code++) {
        forge_block(0, (uint8_t) code, now());
    }
    expect_no_harm();
    assert_int_equal(crew_counters(crew, 0)->datagrams_forged, 256);
}

static void test_block_at_any_time(void **state)
{
    (void) state;
    begin_with((operation_t) {.block = SMALL});
    for (unsigned i = 0; i < 2000; i++) {
        forge_block(i % RANKS, 0, now() + i * (2 * LATE / 2000));
    }
    expect_no_harm();
    assert_int_equal(crew_totals(crew).datagrams_forged, 1500); /* as rank 1 it knows better */
}

/* One fragment whose checksum would be wrong: once it made each rank fetch the block again. */
static void test_fragment_that_spoils_a_block(void **state)
{
    oc_datagram_t header = {.kind = OC_DATAGRAM_FRAGMENT, .generation = 1, .rank = 1, .index = 5,
                            .length = PAYLOAD};
    uint8_t bytes[OC_DATAGRAM_HEADER + PAYLOAD] = {0};

    (void) state;
    begin_with((operation_t) {.block = LARGE});
    header.token = crew_token(crew);
    oc_datagram_encode(&header, bytes);
    for (unsigned to = 0; to < RANKS; to++) {
        network_forge_datagram(crew_network(crew), 1, to, bytes, sizeof(bytes), now());
    }
    expect_no_harm();
    assert_int_equal(crew_totals(crew).datagrams_forged, RANKS - 1);
    assert_int_equal(crew_totals(crew).repair_bytes, 0);
}

/* Each bit of the header, and some of the fragment; the copies overtake what they are made from. */
static bool alter_first(void *arg, unsigned from, unsigned to, uint8_t *bytes, size_t length)
{
    unsigned *left = arg;
    oc_datagram_t header;

    if (0 == *left || 1 != from || 0 != to || !oc_datagram_decode(bytes, length, &header)
        || OC_DATAGRAM_FRAGMENT != header.kind) {
        return true;
    }
    *left = 0;
    for (size_t bit = 0; bit < 8 * (OC_DATAGRAM_HEADER + 32); bit++) {
        bytes[bit / 8] ^= (uint8_t) (1u << bit % 8);
        network_forge_datagram(crew_network(crew), 1, to, bytes, length, now());
        bytes[bit / 8] ^= (uint8_t) (1u << bit % 8);
    }
    return true;
}

static void test_any_bit(void **state)
{
    unsigned left = 1;
    oc_cast_counters_t counted;

    (void) state;
    config.network.meddler = (meddler_t) {.datagram = alter_first, .arg = &left};
    begin_with((operation_t) {.block = LARGE});
    expect_no_harm();
    assert_int_equal(left, 0);
    counted = *crew_counters(crew, 0);
    /* of the rank's bits one makes it rank 0 itself, of whom nothing is taken */
    assert_int_equal(counted.datagrams_forged + counted.fragments_foreign,
                     8 * (OC_DATAGRAM_HEADER + 32) - 1);
    assert_true(counted.datagrams_forged > 8 * (OC_MAC_SIZE + 32));
}

static void play_back_datagrams(size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const sight_t *sight = &datagrams.all[i];

        network_forge_datagram(crew_network(crew), sight->from, sight->to, sight->bytes,
                               sight->length, now());
    }
}

/* They were true once, and are what the next operation has numbers for. */
static void test_datagrams_of_an_earlier_operation(void **state)
{
    operation_t next = {.block = LARGE, .blocking = true, .compute = {[RANKS - 1] = LATE}};
    oc_datagram_t header;
    size_t count;

    (void) state;
    begin_with((operation_t) {.block = LARGE});
    watching = true;
    expect_success(PATIENCE);
    watching = false;
    count = datagrams.count;
    assert_true(count > 100);
    (void) crew_add(crew, &next);
    assert_false(network_run(crew_network(crew), now() + LATE / 2, NULL, NULL));
    play_back_datagrams(count);
    for (size_t i = 0; i < count; i++) { /* and as if they were new */
        sight_t *sight = &datagrams.all[i];

        assert_true(oc_datagram_decode(sight->bytes, sight->length, &header));
        sight->bytes[20]++;
        network_forge_datagram(crew_network(crew), sight->from, sight->to, sight->bytes,
                               sight->length, now());
    }
    expect_no_harm();
    assert_int_equal(crew_totals(crew).fragments_late, count);
    assert_int_equal(crew_totals(crew).datagrams_forged, count);
}

/* What ranks send comes from somewhere else before it comes from them. */
static bool go_before(void *arg, unsigned from, unsigned to, uint8_t *bytes, size_t length)
{
    (void) arg;
    (void) from;
    network_forge_datagram(crew_network(crew), NOWHERE, to, bytes, length, now());
    return true;
}

static void test_from_elsewhere(void **state)
{
    oc_cast_counters_t totals;
    unsigned sent;

    (void) state;
    config.network.meddler = (meddler_t) {.datagram = go_before};
    begin_with((operation_t) {.block = LARGE});
    expect_no_harm();
    totals = crew_totals(crew);
    sent = (unsigned) totals.fragments_sent;
    assert_int_equal(totals.fragments_received, sent * (RANKS - 1));
    assert_int_equal(totals.fragments_duplicated, 0);
    assert_true(totals.datagrams_foreign >= sent * (RANKS - 1));
}

/* ---- messages ---- */

static void forge_message(unsigned to, oc_cast_kind_t kind, uint32_t rank, uint64_t serial)
{
    static uint8_t bytes[OC_CAST_HEAD_MAX + PAYLOAD];
    oc_cast_message_t made;
    size_t length;

    memset(&made, 0, sizeof(made));
    made.kind = kind;
    made.rank = rank;
    made.token = crew_token(crew);
    made.generation = 1;
    made.serial = serial;
    made.block = rank;
    made.num_ranges = 1;
    made.ranges[0].count = 1;
    made.status = OC_ERR_REFUSED;
    made.part = OC_CAST_WHOLE;
    made.num_chains = 1;
    made.positions[0] = 300;
    made.number = 100;
    length = oc_cast_encode(&made, bytes);
    if (OC_CAST_REPAIR == kind) {
        memset(bytes + length, 0x77, PAYLOAD);
        length += PAYLOAD;
    }
    network_forge_message(crew_network(crew), to, bytes, length, now());
}

/* GO and LEAVE too early, DONE of those who are not, data that is none, the end of the group. */
static void test_messages_of_each_kind(void **state)
{
    static const uint32_t chains[] = {TOGETHER, 1};
    unsigned count = 0;

    (void) state;
    for (unsigned i = 0; i < 2; i++, count = 0) {
        config.chains = chains[i];
        config.window = 64 << 10; /* so that CREDITs count */
        begin_with((operation_t) {.block = LARGE});
        for (oc_cast_kind_t kind = OC_CAST_PROBE_REQUEST; kind < OC_CAST_KINDS; kind++) {
            for (unsigned to = 0; to < RANKS; to++) {
                for (uint32_t rank = 0; rank < RANKS; rank++) {
                    forge_message(to, kind, rank, 1ull << 40);
                    count += rank != to;
                }
            }
        }
        expect_no_harm();
        assert_int_equal(crew_totals(crew).messages_forged, count);
    }
}

/* What one rank was told is not for another. */
static void test_messages_for_others(void **state)
{
    unsigned count = 0;

    (void) state;
    watching = true;
    begin_with((operation_t) {.block = LARGE});
    for (size_t i = 0; i < messages.count; i++) {
        const sight_t *sight = &messages.all[i];

        for (unsigned to = 0; to < RANKS; to++) {
            if (to != sight->to && to != sight->from) {
                network_forge_message(crew_network(crew), to, sight->bytes, sight->length, now());
                count++;
            }
        }
    }
    watching = false;
    expect_no_harm();
    assert_true(count > 0);
    assert_int_equal(crew_totals(crew).messages_forged, count);
}

/* All that was ever said is said again, at any time, over and over. */
static void test_everything_again(void **state)
{
    static const uint32_t chains[] = {TOGETHER, 1};
    oc_random_t dice = {.state = 3};

    (void) state;
    for (unsigned i = 0; i < 2; i++) {
        config.chains = chains[i];
        config.window = 64 << 10;
        config.network.faults.drop = 0.01;
        config.network.seed = i + 1;
        watching = true;
        begin_crew(RANKS);
        expect_probed();
        for (unsigned round = 0; round < 10; round++) {
            (void) crew_add(crew, &(operation_t) {.block = 20 * PAYLOAD, .blocking = true});
            for (unsigned k = 0; k < 500 && datagrams.count > 0; k++) {
                const sight_t *one = &datagrams.all[oc_random_below(&dice, datagrams.count)];
                const sight_t *other = &messages.all[oc_random_below(&dice, messages.count)];
                uint64_t when = now() + oc_random_below(&dice, 2 * OC_MILLISECOND);

                network_forge_datagram(crew_network(crew), one->from, one->to, one->bytes,
                                       one->length, when);
                network_forge_message(crew_network(crew), other->to, other->bytes, other->length,
                                      when);
            }
            expect_success(PATIENCE);
        }
        assert_int_equal(crew_totals(crew).blocks_corrupted, 0);
        assert_int_equal(crew_totals(crew).messages_forged, 0); /* they were true */
        forget(&datagrams);
        forget(&messages);
    }
}

static bool lose_turns(void *arg, unsigned from, unsigned to, uint8_t *bytes, size_t length)
{
    oc_cast_message_t message;

    (void) arg;
    (void) from;
    return 1 != to || !oc_cast_decode(bytes, length, &message) || OC_CAST_TURN != message.kind;
}

/* A turn comes early, before there is anything to send, and the one before comes once more. */
static void test_an_old_turn_takes_back_no_new_one(void **state)
{
    oc_cast_message_t turn;

    (void) state;
    config.chains = 1;
    config.network.meddler.message = lose_turns;
    begin_with((operation_t) {.block = LARGE});
    memset(&turn, 0, sizeof(turn));
    turn.kind = OC_CAST_TURN;
    turn.token = crew_token(crew);
    turn.generation = 1;
    crew_forge(crew, 1, &turn);
    assert_false(network_run(crew_network(crew), now() + OC_MILLISECOND, NULL, NULL));
    turn.generation = 0;
    crew_forge(crew, 1, &turn);
    expect_no_harm();
}

/* "I have sent a probe", again and again: it would seem that none of them arrives. */
static void test_answers_to_probes_again(void **state)
{
    (void) state;
    watching = deaf = true;
    begin_crew(RANKS);
    assert_false(network_run(crew_network(crew), now() + 200 * OC_MILLISECOND, NULL, NULL));
    watching = false;
    assert_true(messages.count > 0);
    for (unsigned i = 0; i < 100; i++) {
        for (size_t k = 0; k < messages.count; k++) {
            const sight_t *sight = &messages.all[k];

            network_forge_message(crew_network(crew), sight->to, sight->bytes, sight->length,
                                  now());
        }
    }
    assert_false(network_run(crew_network(crew), now() + OC_MILLISECOND, NULL, NULL));
    deaf = false;
    expect_probed();
}

/* A rank that has died does not seem to be alive because of what it once said: it is asked. */
static void test_signs_of_life_again(void **state)
{
    unsigned pings = 0;
    size_t said;

    (void) state;
    config.network.num_nodes = 2;
    config.network.rate = 1000000; /* bytes a second: it takes some seconds */
    begin_crew(2);
    expect_probed();
    watching = true;
    (void) crew_add(crew, &(operation_t) {.block = 8u << 20, .blocking = true});
    assert_false(network_run(crew_network(crew), now() + 2 * OC_SECOND, NULL, NULL));
    said = messages.count;
    assert_true(said > 0);
    crew_kill(crew, 1, now(), UINT64_MAX);
    for (unsigned i = 0; i < 200; i++) {
        for (size_t k = 0; k < said; k++) {
            const sight_t *sight = &messages.all[k];

            if (0 == sight->to) {
                network_forge_message(crew_network(crew), 0, sight->bytes, sight->length,
                                      now() + i * 100 * OC_MILLISECOND);
            }
        }
    }
    assert_false(network_run(crew_network(crew), now() + 20 * OC_SECOND, NULL, NULL));
    watching = false;
    for (size_t k = said; k < messages.count; k++) {
        pings += 0 == messages.all[k].from && OC_CAST_PING == messages.all[k].bytes[KIND_AT];
    }
    /* after 1, 2, 4 and 8 seconds more */
    assert_in_range(pings, 3, 5);
}

/* ---- numbers that come round ---- */

/* As if there had been so many operations. */
static void age(uint64_t operations)
{
    for (unsigned i = 0; i < RANKS; i++) {
        oc_cast_group_t *group = crew_group(crew, i);

        group->operations = operations;
        group->generation = group->go = group->leave = group->turn = (uint32_t) operations;
        for (uint32_t k = 0; k < group->num_neighbours; k++) {
            group->neighbours[k].entered = group->neighbours[k].done = (uint32_t) operations;
        }
    }
}

/*
 * After 2^32 operations generations begin anew; what was sent under the same number before does not
 * pass for new.
 */
static void test_generations_come_round(void **state)
{
    operation_t operation = {.block = LARGE, .blocking = true};
    size_t count, said;

    (void) state;
    begin_crew(RANKS);
    expect_probed();
    watching = true;
    for (unsigned i = 0; i < 4; i++) {
        (void) crew_add(crew, &operation);
        expect_success(PATIENCE);
    }
    watching = false;
    count = datagrams.count;
    said = messages.count;
    age(0xfffffffeull);
    for (unsigned i = 0; i < 6; i++) {
        operation.compute[RANKS - 1] = LATE;
        (void) crew_add(crew, &operation);
        assert_false(network_run(crew_network(crew), now() + LATE / 2, NULL, NULL));
        play_back_datagrams(count);
        for (size_t k = 0; k < said; k++) {
            const sight_t *sight = &messages.all[k];

            network_forge_message(crew_network(crew), sight->to, sight->bytes, sight->length,
                                  now());
        }
        expect_success(PATIENCE);
    }
    assert_int_equal(crew_group(crew, 0)->operations, 0x100000004ull);
    assert_int_equal(crew_totals(crew).blocks_corrupted, 0);
    assert_true(crew_totals(crew).datagrams_forged >= 6 * count);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(test_block_before_its_owners),
        TEST(test_block_at_any_time),
        TEST(test_fragment_that_spoils_a_block),
        TEST(test_any_bit),
        TEST(test_datagrams_of_an_earlier_operation),
        TEST(test_from_elsewhere),
        TEST(test_messages_of_each_kind),
        TEST(test_messages_for_others),
        TEST(test_everything_again),
        TEST(test_an_old_turn_takes_back_no_new_one),
        TEST(test_answers_to_probes_again),
        TEST(test_signs_of_life_again),
        TEST(test_generations_come_round),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
