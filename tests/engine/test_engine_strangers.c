/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Owns the tests of data messages that nobody of the job has made: a result is right, or there is an
 * error on all ranks that says what happened; nothing hangs, and other jobs notice nothing.
 */
/* Test: default 240 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "protocol/seal.h"
#include "protocol/tag.h"
#include "tests/engine/grove.h"
#include "tests/engine/hand.h"
#include "tests/engine/stranger.h"

static const char *const one_aggregator[] = {"--aggregators", "1", NULL};

#define RANKS  2u
#define CHUNK  16384u
#define CHUNKS 8u
#define COUNT  (CHUNKS * CHUNK / 4)

/* What the stranger knows. */
typedef struct {
    place_t server, ranks[MAX_TEST_RANKS];
    uint32_t reply_handles[MAX_TEST_RANKS];
    atomic_uint told;        /* ranks that know what happened */
} door_t;

/* What it does, before the operation begins. */
typedef struct {
    oc_kind_t kind;
    uint32_t victim;         /* a rank: who is said to have sent it, or who gets it */
    uint32_t slot;
    size_t length;
    send_way_t way;
    bool to_server;          /* a result, or a reply: to a leaf */
    bool in_place;
    bool announces;          /* the ranks send nothing without asking */
    const uint8_t *hosts;    /* as in rank_t */
} attack_t;

static stranger_t *stranger;
static door_t *door;
static attack_t attack;
static test_server_t server;

static int setup(void **state)
{
    (void) state;
    door = shared_memory(sizeof(*door));
    stranger = stranger_start();
    return 0;
}

static int teardown(void **state)
{
    (void) state;
    stranger_stop(stranger);
    return 0;
}

/* ---- ranks ---- */

/* The group is live on all ranks, and the door is open. */
static void meet(rank_t *rank, uint16_t port)
{
    const oc_group_t *group;

    rank->hosts = attack.hosts;
    rank_set_up_groups(rank, 1);
    group = rank->groups[0];
    door->reply_handles[rank->rank] = group->servers->reply_handle;
    place_of_rank(rank, &door->ranks[rank->rank]);
    if (0 == rank->rank) {
        place_of_server(rank, port, &door->server);
    }
    rank_barrier(rank);
}

static void strike_at(const rank_t *rank, uint64_t sequence)
{
    const oc_group_t *group = rank->groups[0];
    const oc_lane_t *lane = &group->servers->lanes[0];
    uint32_t handle = attack.to_server ? lane->handle : door->reply_handles[attack.victim];
    uint32_t number = OC_KIND_CONTRIBUTION == attack.kind ? attack.victim : lane->index;

    stranger_send(stranger, rank, attack.to_server ? &door->server : &door->ranks[attack.victim],
                  oc_tag(attack.kind, handle, number, sequence, attack.slot), NULL,
                  attack.length, attack.way);
}

static void strike(const rank_t *rank)
{
    strike_at(rank, rank->groups[0]->servers->next_sequence);
}

/* So that what was sent to a rank is there. */
static void look_around(rank_t *rank)
{
    for (int i = 0; i < 100; i++) {
        (void) oc_worker_progress(rank->client->worker);
        usleep(1000);
    }
    rank_barrier(rank);
}

static void check_sum(const rank_t *rank, const int32_t *recv)
{
    static int32_t expected[COUNT];

    fill_expected(expected, OC_OP_SUM, OC_TYPE_INT32, COUNT, rank->num_ranks, 7);
    CHECK(0 == memcmp(recv, expected, sizeof(expected)));
}

/* The operation that the stranger has prepared for. */
static oc_status_t operate(rank_t *rank)
{
    static int32_t send[COUNT], recv[COUNT];
    int32_t *in = attack.in_place ? recv : send;
    outcome_t outcome;

    fill_contribution(in, OC_TYPE_INT32, COUNT, rank->rank, 7);
    (void) rank_start(rank, 0, OC_OP_SUM, OC_TYPE_INT32, in, recv, COUNT, &outcome);
    CHECK(rank_wait(rank, &outcome, 1, 12));
    if (OC_OK == outcome.status) {
        check_sum(rank, recv);
    }
    return outcome.status;
}

static void expect_reason(const rank_t *rank)
{
    CHECK(OC_GROUP_FAILED == oc_group_state(rank->groups[0]));
    CHECK(NULL != strstr(oc_group_reason(rank->groups[0]), "forged"));
}

static void under_attack(rank_t *rank, uint16_t port)
{
    meet(rank, port);
    /* whoever gets something has to be awake */
    if (rank->rank == (attack.to_server ? 0 : attack.victim)) {
        strike(rank);
    }
    rank_barrier(rank);
    look_around(rank);
    CHECK(OC_OK != operate(rank));
    expect_reason(rank);
}

static void body_attacked(rank_t *rank)
{
    under_attack(rank, server.port);
}

/* A job that has nothing to do with all this, from before to after it. */
static void body_untouched(rank_t *rank)
{
    uint64_t end = oc_clock_ns() + 2 * OC_SECOND;
    bool more = true;

    rank_set_up_groups(rank, 1);
    while (more) {
        int32_t go = oc_clock_ns() < end, all = 0;

        CHECK(OC_OK == operate(rank));
        CHECK(OC_OK == rank_allreduce(rank, 0, OC_OP_MIN, OC_TYPE_INT32, &go, &all, 1));
        more = 0 != all;
    }
    CHECK(0 == rank->counters.replies_forged);
    CHECK(0 == rank->counters.failures);
}

static oc_job_settings_t attack_settings(const char *servers)
{
    oc_job_settings_t settings = test_settings(servers);

    settings.chunk_size = CHUNK;
    settings.window = 4;
    if (attack.announces) {
        settings.eager_window = 0;
    }
    return settings;
}

static void run_attack(attack_t what, void (*body)(rank_t *rank), uint32_t num_ranks)
{
    oc_job_settings_t settings, calm;
    ranks_t others, victims;

    attack = what;
    server_start(&server, one_aggregator);
    settings = attack_settings(server.address);
    calm = test_settings(server.address);
    ranks_start(&others, 2, &calm, body_untouched, 60);
    ranks_start(&victims, num_ranks, &settings, body, 60);
    assert_int_equal(ranks_wait(&victims), 0);
    assert_int_equal(ranks_wait(&others), 0);
    assert_int_equal(server_stop(&server), 0);
}

/* ---- contributions ---- */

#define CONTRIBUTION_OF(rank, bytes) .kind = OC_KIND_CONTRIBUTION, .victim = (rank), \
                                     .length = (bytes), .to_server = true
#define CONTRIBUTION CONTRIBUTION_OF(1, CHUNK)
#define RESULT       .kind = OC_KIND_RESULT, .victim = 1, .length = CHUNK

static void test_contribution(void **state)
{
    (void) state;
    run_attack((attack_t) {CONTRIBUTION}, body_attacked, RANKS);
}

static void test_contribution_last_chunk(void **state)
{
    (void) state;
    run_attack((attack_t) {CONTRIBUTION, .slot = CHUNKS - 1}, body_attacked, RANKS);
}

static void test_contribution_in_place(void **state)
{
    (void) state;
    run_attack((attack_t) {CONTRIBUTION, .in_place = true}, body_attacked, RANKS);
}

/* Of the true one there is only the announcement: the rank waits for ever for it to be taken. */
static void test_contribution_announced(void **state)
{
    (void) state;
    run_attack((attack_t) {CONTRIBUTION, .announces = true}, body_attacked, RANKS);
}

/* The stranger's data never comes. */
static void test_contribution_stalled(void **state)
{
    (void) state;
    run_attack((attack_t) {CONTRIBUTION, .way = SEND_AND_STALL}, body_attacked, RANKS);
}

/* ---- results ---- */

static void test_result(void **state)
{
    (void) state;
    run_attack((attack_t) {RESULT}, body_attacked, RANKS);
}

static void test_result_last_chunk(void **state)
{
    (void) state;
    run_attack((attack_t) {RESULT, .slot = CHUNKS - 1}, body_attacked, RANKS);
}

/* It falls upon the contribution before that has gone: the sums of the others are wrong, too. */
static void test_result_in_place(void **state)
{
    (void) state;
    run_attack((attack_t) {RESULT, .in_place = true}, body_attacked, RANKS);
}

/*
 * UCX 1.13 may abort when a worker ends that has begun to fetch something from a process that is
 * there and does not answer: the victim's own end is none of ours. All others hear why.
 */
static void body_stalled(rank_t *rank)
{
    meet(rank, server.port);
    if (rank->rank == attack.victim) {
        strike(rank);
    }
    rank_barrier(rank);
    CHECK(OC_OK != operate(rank));
    expect_reason(rank);
    atomic_fetch_add(&door->told, 1);
    _exit(EXIT_SUCCESS);
}

static void test_result_stalled(void **state)
{
    oc_job_settings_t settings;
    ranks_t ranks;

    (void) state;
    attack = (attack_t) {RESULT, .way = SEND_AND_STALL};
    server_start(&server, one_aggregator);
    settings = attack_settings(server.address);
    ranks_start(&ranks, 3, &settings, body_stalled, 60);
    assert_in_range(ranks_wait(&ranks), 0, 1);
    assert_in_range(atomic_load(&door->told), 2, 3);
    assert_int_equal(server_stop(&server), 0);
}

/* The owner of a step gets it, and the others of its host take it from there. */
static void test_result_of_host(void **state)
{
    static const uint8_t hosts[] = {1, 1, 2};

    (void) state;
    run_attack((attack_t) {RESULT, .hosts = hosts}, body_attacked, 3);
}

/*
 * The other rank does not come, so nothing of the service's does, SENT least of all; nor does
 * anything else happen. Two messages for one receive cannot both be true.
 */
static void body_waiting(rank_t *rank)
{
    static int32_t send[COUNT], recv[COUNT];
    outcome_t outcome;

    meet(rank, server.port);
    if (attack.victim == rank->rank) {
        (void) rank_start(rank, 0, OC_OP_SUM, OC_TYPE_INT32, send, recv, COUNT, &outcome);
        rank_linger(rank, 200);
        CHECK(!outcome.done);
        strike_at(rank, rank->groups[0]->servers->next_sequence - 1);
        strike_at(rank, rank->groups[0]->servers->next_sequence - 1);
        CHECK(rank_wait(rank, &outcome, 1, 5));
        CHECK(OC_OK != outcome.status);
        expect_reason(rank);
    }
}

static void test_result_while_waiting(void **state)
{
    (void) state;
    run_attack((attack_t) {RESULT}, body_waiting, RANKS);
}

/* ---- wrong lengths ---- */

/* Where the true one is there before the aggregator looks, there are two. */
static void body_wrong_length(rank_t *rank)
{
    const char *reason;

    meet(rank, server.port);
    if (0 == rank->rank) {
        strike(rank);
    }
    rank_barrier(rank);
    CHECK(OC_OK != operate(rank));
    reason = oc_group_reason(rank->groups[0]);
    CHECK(NULL != strstr(reason, "came with") || NULL != strstr(reason, "the same chunk twice"));
}

static void test_short_chunk(void **state)
{
    (void) state;
    run_attack((attack_t) {CONTRIBUTION_OF(1, CHUNK - 4)}, body_wrong_length, RANKS);
}

/* ---- requests ---- */

static void send_request(const rank_t *rank, const oc_header_t *header, const void *bytes,
                         size_t length, send_way_t way)
{
    stranger_send(stranger, rank, &door->server,
                  oc_tag(OC_KIND_REQUEST, header->handle, header->rank, header->sequence, 0), bytes,
                  length, way);
}

/* Nobody has made these, as far as the code says; the last ones are not even messages. */
#define BAD_REQUESTS 10u

static void send_bad_requests(rank_t *rank)
{
    static uint8_t bytes[OC_HEADER_SIZE + OC_MAX_SMALL + 1000];
    hand_t hand = hand_open(rank, 0);
    uint64_t next = hand.group->servers->next_sequence;
    oc_header_t headers[] = {
        hand_small(&hand, next, 4), hand_large(&hand, OC_MESSAGE_START, next, CHUNK, CHUNKS),
        hand_large(&hand, OC_MESSAGE_ACK, next, CHUNK, CHUNKS),
        hand_large(&hand, OC_MESSAGE_COMMIT, next, CHUNK, CHUNKS)};

    for (unsigned i = 0; i < 4; i++) {
        size_t length = OC_HEADER_SIZE + (OC_MESSAGE_SMALL == headers[i].message ? 4 : 0);

        /* rank 1's, and rank 0's, whose true message is yet to come */
        headers[i].rank = i % 2;
        oc_header_encode(&headers[i], bytes);
        memset(bytes + OC_CODE_OFFSET, (int) i, OC_MAC_SIZE);
        send_request(rank, &headers[i], bytes, length, SEND_AT_ONCE);
    }
    memset(bytes, 0xee, sizeof(bytes));
    send_request(rank, &headers[0], bytes, 64, SEND_AT_ONCE);
    send_request(rank, &headers[0], bytes, 63, SEND_AT_ONCE);
    send_request(rank, &headers[0], bytes, 1, SEND_AT_ONCE);
    send_request(rank, &headers[0], bytes, OC_HEADER_SIZE + OC_MAX_SMALL, SEND_AT_ONCE);
    send_request(rank, &headers[0], bytes, sizeof(bytes), SEND_AT_ONCE);
    send_request(rank, &headers[0], bytes, sizeof(bytes), SEND_ANNOUNCED);
}

static void small_sum(rank_t *rank)
{
    int32_t mine = (int32_t) rank->rank + 5, sum = 0;

    CHECK(OC_OK == rank_allreduce(rank, 0, OC_OP_SUM, OC_TYPE_INT32, &mine, &sum, 1));
    CHECK(11 == sum);
}

static void body_bad_requests(rank_t *rank)
{
    meet(rank, server.port);
    if (0 == rank->rank) {
        send_bad_requests(rank);
    }
    rank_barrier(rank);
    small_sum(rank);
    CHECK(OC_OK == operate(rank));
    small_sum(rank);
    CHECK(4 == rank->counters.allreduce_offloaded);
}

static void test_bad_requests(void **state)
{
    oc_job_settings_t settings;
    char text[64];

    (void) state;
    attack = (attack_t) {.length = 0};
    server_start(&server, one_aggregator);
    settings = attack_settings(server.address);
    assert_int_equal(ranks_run(RANKS, &settings, body_bad_requests, 60), 0);
    snprintf(text, sizeof(text), "dropped %u messages that nobody of its job has made",
             BAD_REQUESTS);
    assert_true(server_said(&server, text, 20000));
    assert_int_equal(server_stop(&server), 0);
}

/* ---- replies ---- */

static void send_reply(const rank_t *rank, const oc_header_t *header, uint64_t slot, size_t length)
{
    static uint8_t bytes[OC_HEADER_SIZE + OC_MAX_SMALL];
    const oc_group_t *group = rank->groups[0];

    oc_header_encode(header, bytes);
    memset(bytes + OC_HEADER_SIZE, 0x77, sizeof(bytes) - OC_HEADER_SIZE);
    stranger_send(stranger, rank, &door->ranks[rank->rank],
                  oc_tag(OC_KIND_REPLY, group->servers->reply_handle,
                         group->servers->lanes[0].index, header->sequence, slot),
                  bytes, length, SEND_AT_ONCE);
}

/* For the next collective, a small one, and for that which follows. */
static void send_bad_replies(rank_t *rank)
{
    hand_t hand = hand_open(rank, 0);
    uint64_t next = hand.group->servers->next_sequence;
    oc_header_t result = hand_small(&hand, next, 4);
    oc_header_t commit = hand_large(&hand, OC_MESSAGE_COMMIT, next + 1, CHUNK, CHUNKS);
    oc_header_t sent = hand_large(&hand, OC_MESSAGE_SENT, next + 1, CHUNK, CHUNKS);

    result.message = OC_MESSAGE_RESULT;
    result.rank = commit.rank = sent.rank = hand.lane->index;
    send_reply(rank, &result, 0, OC_HEADER_SIZE + 4);
    send_reply(rank, &result, 0, OC_HEADER_SIZE + 4);
    result.message = OC_MESSAGE_RESEND;
    send_reply(rank, &result, 0, OC_HEADER_SIZE);
    send_reply(rank, &result, 0, 7);
    send_reply(rank, &result, 0, OC_HEADER_SIZE + 5000);
    send_reply(rank, &commit, OC_COMMIT_SLOT, OC_HEADER_SIZE);
    send_reply(rank, &commit, OC_COMMIT_SLOT, OC_HEADER_SIZE + 100);
    send_reply(rank, &sent, OC_SENT_SLOT, OC_HEADER_SIZE);
    send_reply(rank, &sent, OC_SENT_SLOT, OC_HEADER_SIZE - 1);
}

static void body_bad_replies(rank_t *rank)
{
    meet(rank, server.port);
    if (1 == rank->rank) {
        send_bad_replies(rank);
    }
    rank_barrier(rank);
    small_sum(rank);
    CHECK((1 == rank->rank ? 5 : 0) == rank->counters.replies_forged);
    CHECK(OC_OK == operate(rank));
    CHECK((1 == rank->rank ? 9 : 0) == rank->counters.replies_forged);
    small_sum(rank);
    CHECK(0 == rank->counters.messages_resent);
    CHECK(4 == rank->counters.allreduce_offloaded);
}

static void test_bad_replies(void **state)
{
    oc_job_settings_t settings;

    (void) state;
    attack = (attack_t) {.length = 0};
    server_start(&server, one_aggregator);
    settings = attack_settings(server.address);
    assert_int_equal(ranks_run(RANKS, &settings, body_bad_replies, 60), 0);
    assert_int_equal(server_stop(&server), 0);
}

/* ---- trees ---- */

static grove_t grove;

static void body_tree(rank_t *rank)
{
    under_attack(rank, grove.leaves[0].port);
}

/* Rank 0 is the only one of the first leaf, which is attacked; rank 1 is on the other one. */
static void attack_tree(attack_t what, void (*body)(rank_t *rank))
{
    oc_job_settings_t settings;

    attack = what;
    grove_start(&grove, 2, "1");
    settings = attack_settings(grove.list);
    assert_int_equal(ranks_run(RANKS, &settings, body, 60), 0);
    grove_stop(&grove);
}

static void test_contribution_to_leaf(void **state)
{
    (void) state;
    attack_tree((attack_t) {CONTRIBUTION_OF(0, CHUNK)}, body_tree);
}

/* On a leaf a result always falls upon what the leaf has sent. */
static void test_result_to_leaf(void **state)
{
    (void) state;
    attack_tree((attack_t) {RESULT, .to_server = true}, body_tree);
}

static void test_result_to_leaf_stalled(void **state)
{
    (void) state;
    attack_tree((attack_t) {RESULT, .to_server = true, .way = SEND_AND_STALL}, body_tree);
}

/* It lies where the partial result was, and must not go up in place of that. */
static void body_leaf_reply(rank_t *rank)
{
    int32_t mine = (int32_t) rank->rank + 5, sum = 0;

    meet(rank, grove.leaves[0].port);
    if (0 == rank->rank) {
        strike(rank);
    }
    rank_barrier(rank);
    CHECK(OC_OK == rank_allreduce(rank, 0, OC_OP_SUM, OC_TYPE_INT32, &mine, &sum, 1));
    CHECK(11 == sum);
    CHECK(2 == rank->counters.allreduce_offloaded);
}

static void test_reply_to_leaf(void **state)
{
    (void) state;
    attack_tree((attack_t) {.kind = OC_KIND_REPLY, .to_server = true,
                            .length = OC_HEADER_SIZE + sizeof(int32_t)}, body_leaf_reply);
}

/* COMMIT and SENT of a parent are waited for again. */
static void body_leaf_replies(rank_t *rank)
{
    meet(rank, grove.leaves[0].port);
    if (0 == rank->rank) {
        attack.slot = OC_COMMIT_SLOT;
        strike(rank);
        attack.slot = OC_SENT_SLOT;
        strike(rank);
    }
    rank_barrier(rank);
    CHECK(OC_OK == operate(rank));
    CHECK(2 == rank->counters.allreduce_offloaded);
}

static void test_replies_to_leaf(void **state)
{
    (void) state;
    attack_tree((attack_t) {.kind = OC_KIND_REPLY, .to_server = true,
                            .length = OC_HEADER_SIZE}, body_leaf_replies);
}

int main(int argc, char **argv)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_contribution, setup, teardown),
        cmocka_unit_test_setup_teardown(test_contribution_last_chunk, setup, teardown),
        cmocka_unit_test_setup_teardown(test_contribution_in_place, setup, teardown),
        cmocka_unit_test_setup_teardown(test_contribution_announced, setup, teardown),
        cmocka_unit_test_setup_teardown(test_contribution_stalled, setup, teardown),
        cmocka_unit_test_setup_teardown(test_result, setup, teardown),
        cmocka_unit_test_setup_teardown(test_result_last_chunk, setup, teardown),
        cmocka_unit_test_setup_teardown(test_result_in_place, setup, teardown),
        cmocka_unit_test_setup_teardown(test_result_stalled, setup, teardown),
        cmocka_unit_test_setup_teardown(test_result_of_host, setup, teardown),
        cmocka_unit_test_setup_teardown(test_result_while_waiting, setup, teardown),
        cmocka_unit_test_setup_teardown(test_short_chunk, setup, teardown),
        cmocka_unit_test_setup_teardown(test_bad_requests, setup, teardown),
        cmocka_unit_test_setup_teardown(test_bad_replies, setup, teardown),
        cmocka_unit_test_setup_teardown(test_contribution_to_leaf, setup, teardown),
        cmocka_unit_test_setup_teardown(test_result_to_leaf, setup, teardown),
        cmocka_unit_test_setup_teardown(test_result_to_leaf_stalled, setup, teardown),
        cmocka_unit_test_setup_teardown(test_reply_to_leaf, setup, teardown),
        cmocka_unit_test_setup_teardown(test_replies_to_leaf, setup, teardown),
    };

    if (argc > 1) {
        cmocka_set_test_filter(argv[1]);
    }
    alarm(920);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
