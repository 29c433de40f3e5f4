/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Owns the tests of datagrams and messages that no rank of the group has sent, or that make no
 * sense: results stay right, memory bounded, and what is refused is counted.
 */
/* Test: quick 120 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <malloc.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "tests/multicast/fixture.h"
#include "tests/random.h"

#define RANKS   4
#define PAYLOAD (1472 - OC_DATAGRAM_HEADER)
#define BLOCK   (100 * PAYLOAD)
#define LATE    (10 * OC_MILLISECOND)

#define PATIENCE (20 * OC_SECOND)

static bool deaf[SCRIPTED_RANKS];         /* gets no fragments */

static bool spare_the_deaf(void *arg, unsigned from, unsigned to, uint8_t *bytes, size_t length)
{
    oc_datagram_t header;

    (void) arg;
    (void) from;
    return !deaf[to] || !oc_datagram_decode(bytes, length, &header)
           || OC_DATAGRAM_FRAGMENT != header.kind;
}

/*
 * An operation in which rank 3 is late: there is time to tell the others, who have entered,
 * something before anything is sent.
 */
static int set_up(void **state)
{
    operation_t operation = {.block = BLOCK, .blocking = true};

    (void) set_up_crew(state);
    memset(deaf, 0, sizeof(deaf));
    config.network.meddler = (meddler_t) {.datagram = spare_the_deaf};
    begin_crew(RANKS);
    expect_probed();
    operation.compute[3] = LATE;
    (void) crew_add(crew, &operation);
    assert_false(network_run(crew_network(crew), now() + LATE / 2, NULL, NULL));
    return 0;
}

static unsigned long long foreign(void)
{
    return crew_totals(crew).fragments_foreign;
}

/* ---- datagrams ---- */

static oc_datagram_t fragment(void)
{
    return (oc_datagram_t) {.kind = OC_DATAGRAM_FRAGMENT, .token = crew_token(crew),
                            .generation = 1, .rank = 1, .index = 5, .length = PAYLOAD};
}

static void forge(oc_datagram_t header)
{
    uint8_t payload[65536];

    memset(payload, 0x77, sizeof(payload));
    crew_forge_datagram(crew, 0, &header, payload);
}

/* They may be from any rank: that they do not fit says nothing about the block's owner. */
static void test_repairs_that_do_not_fit(void **state)
{
    oc_datagram_t header = fragment();

    (void) state;
    header.kind = OC_DATAGRAM_REPAIR;
    header.length = PAYLOAD - 1;
    forge(header);
    header.length = PAYLOAD;
    header.index = 1u << 20;
    forge(header);
    header.rank = 0; /* who gets it */
    forge(header);
    expect_success(PATIENCE);
    assert_int_equal(crew_counters(crew, 0)->fragments_foreign, 2);
    assert_int_equal(crew_totals(crew).blocks_corrupted, 0);
}

static void test_other_groups(void **state)
{
    (void) state;
    for (unsigned bit = 0; bit < 64; bit++) {
        oc_datagram_t header = fragment();

        header.token ^= 1ull << bit;
        forge(header);
    }
    expect_success(PATIENCE);
    assert_int_equal(foreign(), 64);
    assert_int_equal(crew_totals(crew).blocks_corrupted, 0);
}

static void test_other_generations(void **state)
{
    static const uint32_t generations[] = {0, 2, 257, 65537, 1u << 31, UINT32_MAX};

    (void) state;
    for (unsigned i = 0; i < sizeof(generations) / sizeof(generations[0]); i++) {
        oc_datagram_t header = fragment();

        header.generation = generations[i];
        forge(header);
    }
    expect_success(PATIENCE);
    assert_int_equal(foreign() + crew_totals(crew).fragments_late
                         + crew_totals(crew).datagrams_forged,
                     6);
    assert_int_equal(crew_totals(crew).blocks_corrupted, 0);
}

static void test_wrong_ranks(void **state)
{
    static const uint32_t ranks[] = {RANKS, RANKS + 1, UINT16_MAX};

    (void) state;
    for (unsigned i = 0; i < sizeof(ranks) / sizeof(ranks[0]); i++) {
        oc_datagram_t header = fragment();

        header.rank = ranks[i];
        forge(header);
    }
    expect_success(PATIENCE);
    assert_int_equal(foreign(), 3);
}

/* The operation has failed on all ranks, with that status and a text that names both. */
static void expect_misfit(oc_status_t status, const char *reason)
{
    assert_true(crew_play(crew, PATIENCE));
    for (unsigned i = 0; i < RANKS; i++) {
        assert_int_equal(crew_outcome(crew, i, 0)->status, status);
        assert_string_equal(oc_cast_group_reason(crew_group(crew, i)), reason);
    }
}

#define MORE "rank 1 sends more than rank 0 has room for: their counts or types do not match"
#define LESS "rank 1 sends less than rank 0 is to receive: their counts or types do not match"

/* Only a rank can have sent these: its block is not as long as it is here. */
static void test_other_lengths(void **state)
{
    static const struct {
        uint32_t index;
        uint16_t length;
        bool more;
    } wrong[] = {{101, PAYLOAD, true},     {300, PAYLOAD, true},         {1u << 31, PAYLOAD, true},
                 {UINT32_MAX, 4, true},    {5, PAYLOAD + 1, true},       {5, 60000, true},
                 {100, PAYLOAD, true},     {5, PAYLOAD - 1, false},      {5, 0, false},
                 {100, 3, false}};

    for (unsigned i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        oc_datagram_t header = fragment();

        header.index = wrong[i].index;
        header.length = wrong[i].length;
        forge(header);
        expect_misfit(wrong[i].more ? OC_ERR_TRUNCATED : OC_ERR_MISMATCH,
                      wrong[i].more ? MORE : LESS);
        (void) set_up(state);
    }
}

static void test_malformed_datagrams(void **state)
{
    uint8_t bytes[OC_DATAGRAM_HEADER + PAYLOAD] = {0};
    oc_datagram_t header = fragment();
    unsigned count = 0;

    (void) state;
    for (size_t length = 0; length <= OC_DATAGRAM_HEADER + 3; length++, count++) {
        oc_datagram_encode(&header, bytes);
        network_forge_datagram(crew_network(crew), 1, 0, bytes, length, now());
    }
    for (unsigned at = 16; at < 20; at++, count++) { /* magic, version, kind */
        oc_datagram_encode(&header, bytes);
        bytes[at] ^= 0x40;
        network_forge_datagram(crew_network(crew), 1, 0, bytes, sizeof(bytes), now());
    }
    expect_success(PATIENCE);
    assert_int_equal(foreign(), count);
    assert_int_equal(crew_totals(crew).blocks_corrupted, 0);
}

/* Somebody pretends to be this rank, or the network returns what is on its way. */
static void test_own_rank(void **state)
{
    oc_datagram_t header = fragment();

    (void) state;
    header.rank = 0;
    forge(header);
    expect_success(PATIENCE);
    assert_int_equal(crew_totals(crew).blocks_corrupted, 0);
}

/* It knows all numbers of the group: only the checksum can tell. */
static void test_forged_data(void **state)
{
    (void) state;
    forge(fragment());
    expect_success(PATIENCE);
    assert_int_equal(crew_totals(crew).blocks_corrupted, 1);
    assert_int_equal(crew_counters(crew, 0)->blocks_corrupted, 1);
}

/* ---- messages ---- */

static oc_cast_message_t message(oc_cast_kind_t kind)
{
    oc_cast_message_t made;

    memset(&made, 0, sizeof(made));
    made.kind = kind;
    made.rank = 1;
    made.token = crew_token(crew);
    made.generation = 1;
    return made;
}

/* Each kind from ranks that do not exist, from this rank, and for other groups. */
static void test_wrong_senders(void **state)
{
    unsigned count = 0;

    (void) state;
    for (oc_cast_kind_t kind = OC_CAST_PROBE_REQUEST; kind < OC_CAST_KINDS; kind++) {
        oc_cast_message_t made = message(kind);

        made.num_ranges = 1;
        made.status = -3;
        made.rank = RANKS;
        crew_forge(crew, 0, &made);
        made.rank = UINT32_MAX;
        crew_forge(crew, 0, &made);
        made.rank = 0;
        crew_forge(crew, 0, &made);
        made.rank = 1;
        made.token ^= 1;
        crew_forge(crew, 0, &made);
        count += 3;
    }
    expect_success(PATIENCE);
    assert_int_equal(foreign(), count);
}

static void test_malformed_messages(void **state)
{
    uint8_t bytes[OC_CAST_HEAD_MAX];
    oc_cast_message_t made = message(OC_CAST_REQUEST);
    size_t length;

    (void) state;
    made.num_ranges = 3;
    length = oc_cast_encode(&made, bytes);
    for (size_t cut = 0; cut < length; cut++) {
        network_forge_message(crew_network(crew), 0, bytes, cut, now());
    }
    bytes[53] = 255; /* more ranges than there are */
    network_forge_message(crew_network(crew), 0, bytes, length, now());
    expect_success(PATIENCE);
}

static void test_wrong_requests(void **state)
{
    static const oc_cast_range_t ranges[] = {
        {100, 2}, {101, 1}, {0, 102}, {0, UINT32_MAX}, {UINT32_MAX, 1}, {1u << 31, 1u << 31},
        {5, UINT32_MAX - 4}};
    oc_cast_message_t made = message(OC_CAST_REQUEST);
    unsigned count = 0;

    (void) state;
    for (unsigned i = 0; i < sizeof(ranges) / sizeof(ranges[0]); i++, count++) {
        made = message(OC_CAST_REQUEST);
        made.block = 2;
        made.num_ranges = 2; /* the first is right */
        made.ranges[0] = (oc_cast_range_t) {.first = 1, .count = 1};
        made.ranges[1] = ranges[i];
        crew_forge(crew, 0, &made);
    }
    made.num_ranges = 1;
    made.block = RANKS;
    crew_forge(crew, 0, &made);
    made.block = UINT32_MAX;
    crew_forge(crew, 0, &made);
    made.num_ranges = 0;
    made.block = 0;
    crew_forge(crew, 0, &made);
    expect_success(PATIENCE);
    assert_int_equal(foreign(), count + 3);
    assert_int_equal(crew_totals(crew).repair_bytes, 0);
}

/* Who asks the owner of a block for what that does not have expects more. */
static void test_request_for_more(void **state)
{
    static const oc_cast_range_t ranges[] = {{100, 2}, {101, 1}, {0, UINT32_MAX}};

    for (unsigned i = 0; i < sizeof(ranges) / sizeof(ranges[0]); i++) {
        oc_cast_message_t made = message(OC_CAST_REQUEST);

        made.num_ranges = 1;
        made.ranges[0] = ranges[i];
        crew_forge(crew, 0, &made);
        expect_misfit(OC_ERR_MISMATCH, "rank 0 sends less than rank 1 is to receive: their counts "
                                       "or types do not match");
        (void) set_up(state);
    }
}

static void flood(oc_cast_message_t made)
{
    struct mallinfo2 before, after;

    made.num_ranges = OC_CAST_MAX_RANGES;
    for (unsigned i = 0; i < OC_CAST_MAX_RANGES; i++) {
        made.ranges[i] = (oc_cast_range_t) {.first = 0, .count = 101};
    }
    for (unsigned wave = 0; wave < 20; wave++) {
        for (made.number = 0; made.number < 100; made.number++) {
            crew_forge(crew, 0, &made);
        }
        (void) network_run(crew_network(crew), now() + OC_MILLISECOND / 10, NULL, NULL);
        if (0 == wave) {
            before = mallinfo2();
        }
    }
    after = mallinfo2();
    assert_true(after.uordblks < before.uordblks + (1u << 20));
}

/* Ranges that overlap are as many answers, and who waits keeps memory: no flood may pile up. */
static void test_flood_of_requests(void **state)
{
    oc_cast_message_t made = message(OC_CAST_REQUEST);

    (void) state;
    for (unsigned wait = 0; wait < 2; wait++) {
        for (made.block = 0; made.block < 2; made.block++) {
            made.wait = 1 == wait;
            flood(made);
        }
    }
    expect_success(PATIENCE);
}

/* Of any rank about any block: as many as ranks are held, and others are answered at once. */
static void test_flood_of_polls(void **state)
{
    oc_cast_message_t made = message(OC_CAST_POLL);
    unsigned long long before = crew_counters(crew, 0)->control_messages;
    unsigned count = 0;

    (void) state;
    for (made.rank = 1; made.rank < RANKS; made.rank++) {
        for (made.block = 1; made.block < RANKS; made.block++) {
            if (made.block != made.rank) {
                crew_forge(crew, 0, &made);
                crew_forge(crew, 0, &made); /* held once */
                count++;
            }
        }
    }
    assert_int_equal(count, 6);
    assert_false(network_run(crew_network(crew), now() + OC_MILLISECOND, NULL, NULL));
    assert_int_equal(crew_counters(crew, 0)->control_messages - before, 2 * (count - RANKS));
    expect_success(PATIENCE);
}

static oc_cast_message_t repair(uint32_t first, uint32_t count, size_t length)
{
    static const uint8_t data[OC_CAST_MESSAGE_MAX];
    oc_cast_message_t made = message(OC_CAST_REPAIR);

    made.block = 1;
    made.num_ranges = 1;
    made.ranges[0] = (oc_cast_range_t) {.first = first, .count = count};
    made.data = data;
    made.data_length = length;
    return made;
}

/* Answers that promise more than will come, or less than was asked for, or end twice. */
static void test_wrong_ends(void **state)
{
    static const uint32_t given[] = {0, 1, 1000, UINT32_MAX, UINT32_MAX};
    oc_cast_message_t made = message(OC_CAST_REPAIR);

    (void) state;
    made.last = true;
    for (unsigned i = 0; i < sizeof(given) / sizeof(given[0]); i++) {
        made.given = given[i];
        for (made.block = 1; made.block < RANKS; made.block++) {
            for (made.number = 0; made.number < 20; made.number++) {
                for (made.rank = 1; made.rank < RANKS; made.rank++) {
                    crew_forge(crew, 0, &made);
                }
            }
        }
    }
    expect_success(PATIENCE);
}

/* Nothing of what does not fit may be written anywhere. */
static void test_wrong_repairs(void **state)
{
    oc_cast_message_t made;

    (void) state;
    for (unsigned i = 0; i < 8; i++) {
        static const struct {
            uint32_t first, count;
            size_t length;
        } wrong[] = {{101, 1, PAYLOAD},       {UINT32_MAX, 1, PAYLOAD}, {0, UINT32_MAX, 28000},
                     {5, 1u << 31, PAYLOAD},  {5, 1, PAYLOAD - 1},      {5, 1, 0},
                     {100, 1, 3},             {100, 2, PAYLOAD}};

        made = repair(wrong[i].first, wrong[i].count, wrong[i].length);
        made.rank = 2;
        crew_forge(crew, 0, &made);
    }
    made = repair(5, 1, PAYLOAD);
    made.block = RANKS;
    crew_forge(crew, 0, &made);
    made.block = UINT32_MAX;
    crew_forge(crew, 0, &made);
    made.block = 0; /* its own */
    crew_forge(crew, 0, &made);
    expect_success(PATIENCE);
    assert_int_equal(foreign(), 11);
    assert_int_equal(crew_totals(crew).blocks_corrupted, 0);
}

/* From the owner it is what the block has. */
static void test_other_repairs(void **state)
{
    static const struct {
        uint32_t first, count;
        size_t length;
        bool more;
    } wrong[] = {{101, 1, PAYLOAD, true}, {0, 2, 2 * PAYLOAD + 1, true}, {100, 1, 5, true},
                 {100, 1, 3, false},      {99, 2, PAYLOAD, false}};

    for (unsigned i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        oc_cast_message_t made = repair(wrong[i].first, wrong[i].count, wrong[i].length);

        crew_forge(crew, 0, &made);
        expect_misfit(wrong[i].more ? OC_ERR_TRUNCATED : OC_ERR_MISMATCH,
                      wrong[i].more ? MORE : LESS);
        (void) set_up(state);
    }
}

/* Data that nobody asked for is not better than other data. */
static void test_unsolicited_repair(void **state)
{
    oc_cast_message_t made = repair(5, 3, 3 * PAYLOAD);

    (void) state;
    crew_forge(crew, 0, &made);
    expect_success(PATIENCE);
    assert_in_range(crew_counters(crew, 0)->blocks_corrupted, 0, 1);
}

/* All fragments come from there, and none of it is true. */
static void test_repairs_from_a_liar(void **state)
{
    (void) state;
    deaf[0] = true;
    for (uint32_t first = 0; first < 100; first += 10) {
        oc_cast_message_t made = repair(first, 10, 10 * PAYLOAD);

        made.rank = 2;
        crew_forge(crew, 0, &made);
    }
    expect_success(PATIENCE);
    assert_in_range(crew_counters(crew, 0)->blocks_corrupted, 0, 1);
}

static bool is_corrupted(void *arg)
{
    (void) arg;
    return crew_totals(crew).blocks_corrupted > 0;
}

/* Once a checksum was wrong, only the owner is believed. */
static void test_repairs_from_others_for_a_wrong_block(void **state)
{
    oc_cast_message_t made = repair(7, 3, 3 * PAYLOAD);

    (void) state;
    forge(fragment());
    assert_true(network_run(crew_network(crew), now() + OC_SECOND, is_corrupted, NULL));
    made.rank = 2;
    crew_forge(crew, 0, &made);
    expect_success(PATIENCE);
    assert_int_equal(crew_totals(crew).blocks_corrupted, 1);
}

static void test_sent_more_than_there_is(void **state)
{
    oc_cast_message_t made = message(OC_CAST_SENT);

    (void) state;
    made.number = 102;
    crew_forge(crew, 0, &made);
    made.number = UINT32_MAX;
    crew_forge(crew, 0, &made);
    expect_success(PATIENCE);
    assert_int_equal(crew_totals(crew).blocks_corrupted, 0);
}

/* News of other operations, and from ranks whose news it is not. */
static void test_messages_about_other_operations(void **state)
{
    static const uint32_t generations[] = {0, 3, 1000, 1u << 31, UINT32_MAX - 1, UINT32_MAX};

    (void) state;
    for (oc_cast_kind_t kind = OC_CAST_PROBE_REQUEST; kind < OC_CAST_ABORT; kind++) {
        for (unsigned i = 0; i < sizeof(generations) / sizeof(generations[0]); i++) {
            oc_cast_message_t made = message(kind);

            made.generation = generations[i];
            made.num_ranges = 1;
            made.ranges[0].count = 1;
            crew_forge(crew, 0, &made);
            crew_forge(crew, 2, &made);
        }
    }
    expect_success(PATIENCE);
    (void) crew_add(crew, &(operation_t) {.block = BLOCK});
    expect_success(PATIENCE);
}

/* A status from the wire may be anything; the group has failed in any case. */
static void test_strange_abort(void **state)
{
    static const char text[] = "%s%n is no reason";
    oc_cast_message_t made = message(OC_CAST_ABORT);

    (void) state;
    made.status = 0;
    made.data = (const uint8_t *) text;
    made.data_length = sizeof(text) - 1;
    for (unsigned i = 0; i < RANKS; i++) {
        made.rank = (i + 1) % RANKS;
        crew_forge(crew, i, &made);
    }
    assert_true(crew_play(crew, OC_SECOND));
    for (unsigned i = 0; i < RANKS; i++) {
        assert_true(crew_outcome(crew, i, 0)->status < OC_OK);
        assert_string_equal(oc_cast_group_reason(crew_group(crew, i)), text);
    }
}

/* Whatever it is, nothing is written where it does not belong, and nothing hangs for ever. */
static void test_random_messages(void **state)
{
    oc_random_t dice = {.state = 1};

    (void) state;
    for (unsigned i = 0; i < 20000; i++) {
        uint8_t bytes[OC_CAST_HEAD_MAX];
        size_t length = oc_random_below(&dice, 512);
        oc_cast_message_t made = message(OC_CAST_POLL);

        for (size_t k = 0; k < length; k++) {
            bytes[k] = (uint8_t) oc_random(&dice) & (0 == oc_random_below(&dice, 2) ? 3 : 255);
        }
        if (length > 32) {
            made.rank = 1 + (uint32_t) oc_random_below(&dice, 3);
            (void) oc_cast_encode(&made, bytes);
            /* those that lie about what has been done are for people with the token only */
            bytes[3] = (uint8_t) (OC_CAST_POLL + oc_random_below(&dice, 3));
            bytes[22] = bytes[23] = bytes[26] = bytes[27] = 0;
        }
        network_forge_message(crew_network(crew), 0, bytes, length, now() + i * 500);
    }
    expect_success(PATIENCE);
    assert_int_equal(crew_totals(crew).blocks_corrupted, 0);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down_crew)
    const struct CMUnitTest tests[] = {
        TEST(test_repairs_that_do_not_fit),
        TEST(test_other_groups),
        TEST(test_other_generations),
        TEST(test_wrong_ranks),
        TEST(test_other_lengths),
        TEST(test_malformed_datagrams),
        TEST(test_own_rank),
        TEST(test_forged_data),
        TEST(test_wrong_senders),
        TEST(test_malformed_messages),
        TEST(test_wrong_requests),
        TEST(test_request_for_more),
        TEST(test_flood_of_requests),
        TEST(test_flood_of_polls),
        TEST(test_wrong_ends),
        TEST(test_wrong_repairs),
        TEST(test_other_repairs),
        TEST(test_unsolicited_repair),
        TEST(test_repairs_from_a_liar),
        TEST(test_repairs_from_others_for_a_wrong_block),
        TEST(test_sent_more_than_there_is),
        TEST(test_messages_about_other_operations),
        TEST(test_strange_abort),
        TEST(test_random_messages),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
