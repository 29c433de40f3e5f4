/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Owns the tests of what comes after a tag's fields have wrapped: sequences, while an operation is
 * held back, and numbers of chunks.
 */
/* Test: quick 120 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "protocol/tag.h"
#include "tests/engine/hand.h"

static const char *const one_aggregator[] = {"--aggregators", "1", NULL};

#define CHUNK_BYTES 16384u
#define LARGE_COUNT (2 * CHUNK_BYTES / 4)

static int32_t large_send[LARGE_COUNT], large_recv[LARGE_COUNT];

/* ---- sequences ---- */

/* More than a tag can tell apart, beside one that does not end. */
#define SMALL_ONES 9000u
#define WIDTH      64u     /* of them at a time */

static int32_t value_of(uint32_t rank, uint64_t sequence)
{
    return (int32_t) (1000003 * rank + 17 * sequence);
}

/* As many as there can be, all checked, while the large one waits for the other rank. */
static void operate(rank_t *rank)
{
    static outcome_t large, outcomes[SMALL_ONES];
    static int32_t sent[SMALL_ONES], got[SMALL_ONES];
    const oc_group_t *group = rank_group(rank, 0);
    uint64_t first = group->servers->next_sequence + 1;

    for (size_t i = 0; i < LARGE_COUNT; i++) {
        large_send[i] = (int32_t) i;
    }
    CHECK(OC_OK == rank_start(rank, 0, OC_OP_SUM, OC_TYPE_INT32, large_send, large_recv,
                              LARGE_COUNT, &large));
    for (unsigned i = 0; i < SMALL_ONES; i++) {
        sent[i] = value_of(0, first + i);
        CHECK(OC_OK == rank_start(rank, 0, OC_OP_SUM, OC_TYPE_INT32, &sent[i], &got[i], 1,
                                  &outcomes[i]));
        if (i >= WIDTH) {
            CHECK(rank_wait(rank, &outcomes[i - WIDTH], 1, 20));
            CHECK(OC_OK == outcomes[i - WIDTH].status);
        }
    }
    CHECK(rank_wait(rank, outcomes, SMALL_ONES, 20));
    CHECK(rank_wait(rank, &large, 1, 20));
    CHECK(OC_OK == large.status);
    for (unsigned i = 0; i < SMALL_ONES; i++) {
        CHECK(OC_OK == outcomes[i].status);
        CHECK(got[i] == value_of(0, first + i) + value_of(1, first + i));
    }
    for (size_t i = 0; i < LARGE_COUNT; i++) {
        CHECK(large_recv[i] == (int32_t) (3 * i));
    }
    /* none of this went another way */
    CHECK(SMALL_ONES + 2 == rank->counters.allreduce_offloaded);
}

/* The large one up to the results, which this rank does not acknowledge. */
static void begin_large(hand_t *hand, uint64_t sequence)
{
    static hand_message_t results[2];
    oc_header_t start = hand_large(hand, OC_MESSAGE_START, sequence, CHUNK_BYTES, 2);
    const rank_t *rank = hand->rank;

    for (size_t i = 0; i < LARGE_COUNT; i++) {
        large_send[i] = (int32_t) (2 * i);
    }
    hand_request(hand, &start, NULL);
    for (uint32_t slot = 0; slot < 2; slot++) {
        hand_expect(hand, &results[slot], hand_result_tag(hand, sequence, slot));
        hand_contribute(hand, sequence, slot, (const char *) large_send + slot * CHUNK_BYTES,
                        CHUNK_BYTES);
    }
    for (uint32_t slot = 0; slot < 2; slot++) {
        CHECK(hand_wait(hand, &results[slot], 10000));
        CHECK(OC_OK == results[slot].transfer.status);
    }
}

static void end_large(hand_t *hand, uint64_t sequence)
{
    static hand_message_t commit;
    oc_header_t ack = hand_large(hand, OC_MESSAGE_ACK, sequence, CHUNK_BYTES, 2);
    const rank_t *rank = hand->rank;

    hand_expect(hand, &commit, hand_reply_tag(hand, sequence, OC_COMMIT_SLOT));
    hand_request(hand, &ack, NULL);
    CHECK(hand_wait(hand, &commit, 10000));
    CHECK(OC_OK == commit.transfer.status);
}

/* Holds the large one back for as long as the others go on without it. */
static void hold_back(rank_t *rank)
{
    static hand_message_t result;
    hand_t hand = hand_open(rank, 0);
    uint64_t first = hand.group->servers->next_sequence;
    bool held = true;

    begin_large(&hand, first);
    for (uint64_t sequence = first + 1; sequence <= first + SMALL_ONES; sequence++) {
        oc_header_t header = hand_small(&hand, sequence, sizeof(int32_t));
        int32_t value = value_of(1, sequence);

        hand_expect(&hand, &result, hand_reply_tag(&hand, sequence, 0));
        hand_request(&hand, &header, &value);
        if (held && !hand_wait(&hand, &result, 1000)) {
            CHECK(sequence == first + OC_MAX_SPAN);
            held = false;
            end_large(&hand, first);
        }
        CHECK(hand_wait(&hand, &result, 10000));
        CHECK(OC_OK == result.transfer.status);
    }
    CHECK(!held);
}

static void body_span(rank_t *rank)
{
    rank_set_up_groups(rank, 1);
    if (0 == rank->rank) {
        operate(rank);
    } else {
        hold_back(rank);
    }
}

static void test_one_is_held_back(void **state)
{
    test_server_t server;
    oc_job_settings_t settings;

    (void) state;
    server_start(&server, one_aggregator);
    settings = test_settings(server.address);
    assert_true(ranks_succeed(&server, 2, &settings, body_span, 60));
}

/* A rank that does not keep to it: the server says so. */
static void run_ahead(rank_t *rank)
{
    hand_t hand = hand_open(rank, 0);
    uint64_t first = hand.group->servers->next_sequence;
    oc_header_t early = hand_small(&hand, first, sizeof(int32_t));
    oc_header_t late = hand_small(&hand, first + (1u << OC_TAG_SEQUENCE_BITS), sizeof(int32_t));
    int32_t value = 1;

    hand_request(&hand, &early, &value);
    hand_request(&hand, &late, &value);
}

static void body_ahead(rank_t *rank)
{
    outcome_t outcome;
    int32_t one = 1, sum = 0;

    rank_set_up_groups(rank, 1);
    if (1 == rank->rank) {
        run_ahead(rank);
        rank_linger(rank, 500);
    }
    rank_barrier(rank);
    if (0 == rank->rank) {
        if (OC_OK == rank_start(rank, 0, OC_OP_SUM, OC_TYPE_INT32, &one, &sum, 1, &outcome)) {
            CHECK(rank_wait(rank, &outcome, 1, 10));
            CHECK(OC_OK != outcome.status);
        }
        CHECK(OC_GROUP_FAILED == oc_group_state(rank->groups[0]));
        CHECK(NULL != strstr(oc_group_reason(rank->groups[0]), "rank 1 began collective"));
    }
}

static void test_too_far_apart(void **state)
{
    test_server_t server;
    oc_job_settings_t settings;

    (void) state;
    server_start(&server, one_aggregator);
    settings = test_settings(server.address);
    assert_true(ranks_succeed(&server, 2, &settings, body_ahead, 60));
}

/* ---- chunks ---- */

/* Two on one aggregator for each number that a tag has, and some more. */
#define MANY_CHUNKS (2 * 4096u + 5)
#define MANY_COUNT  (MANY_CHUNKS * 4096u / 4)

static void body_chunks(rank_t *rank)
{
    int32_t *send = malloc(MANY_COUNT * sizeof(*send)), *recv = calloc(MANY_COUNT, sizeof(*recv));

    CHECK(NULL != send && NULL != recv);
    rank_set_up_groups(rank, 1);
    for (size_t i = 0; i < MANY_COUNT; i++) {
        send[i] = (int32_t) (i * (rank->rank + 1));
    }
    CHECK(OC_OK == rank_allreduce(rank, 0, OC_OP_SUM, OC_TYPE_INT32, send, recv, MANY_COUNT));
    for (size_t i = 0; i < MANY_COUNT; i++) {
        CHECK(recv[i] == (int32_t) (3 * i));
    }
    CHECK(rank->counters.chunks >= MANY_CHUNKS);
    free(send);
    free(recv);
}

static void test_more_chunks_than_slots(void **state)
{
    test_server_t server;
    oc_job_settings_t settings;

    (void) state;
    server_start(&server, one_aggregator);
    settings = test_settings(server.address);
    settings.chunk_size = 4096;
    settings.small_size = 1024;
    assert_true(ranks_succeed(&server, 2, &settings, body_chunks, 60));
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_is_held_back),
        cmocka_unit_test(test_too_far_apart),
        cmocka_unit_test(test_more_chunks_than_slots),
    };

    alarm(440);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
