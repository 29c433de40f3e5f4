/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Owns the unit tests of what an aggregator makes of messages that no receive has taken: which are
 * left over, which are only early, and what a look for them takes.
 */
/* Test: quick 60 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <unistd.h>

#include "base/clock.h"
#include "protocol/tag.h"
#include "server/aggregator/server_leftovers.h"
#include "server/aggregator/server_reduction.h"
#include "tests/unit/aggregator_fixture.h"

#define HANDLE   0x54321u
#define RANKS    3u
#define CHUNKS   9u
#define BYTES    4096u      /* of a chunk */
#define SEQUENCE 5000u      /* more than a tag has room for */
#define MESSAGES 70000u

static aggregator_fixture_t fixture;
static oc_aggregator_t *aggregator;
static oc_server_group_t *group;
static oc_reduction_t *reduction;

/* A group with one large collective, which is reduced here, or passed on to a server above. */
static void open_group(bool goes_up)
{
    oc_server_member_t member = {.group = 1, .handle = HANDLE, .num_ranks = RANKS, .aggregator = 6,
                                 .chunk_bytes = BYTES, .window = 4, .tree = goes_up,
                                 .leaves = goes_up ? 2 : 0};
    oc_header_t header = {.message = OC_MESSAGE_START, .op = OC_OP_SUM, .type = OC_TYPE_INT32,
                          .handle = HANDLE, .chunk_bytes = BYTES, .last_bytes = BYTES,
                          .chunks = CHUNKS, .sequence = SEQUENCE,
                          .count = CHUNKS * BYTES / sizeof(int32_t)};

    aggregator_open(&fixture, 1 << 20);
    aggregator = fixture.aggregator;
    if (goes_up) {
        aggregator_connect_above(&fixture);
    }
    group = aggregator_join(&fixture, &member);
    reduction = oc_reduction_find_or_make(group, &header);
    assert_non_null(reduction);
}

static int setup(void **state)
{
    (void) state;
    open_group(false);
    return 0;
}

static int setup_leaf(void **state)
{
    (void) state;
    open_group(true);
    return 0;
}

static int teardown(void **state)
{
    (void) state;
    aggregator_close(&fixture);
    return 0;
}

/* ---- messages ---- */

typedef struct {
    oc_transfer_t transfer;
    bool done;
} message_t;

static void on_done(oc_transfer_t *transfer)
{
    ((message_t *) transfer)->done = true;
}

static void send_tag(uint64_t tag)
{
    static const uint8_t byte = 1;
    message_t message = {.transfer.done = on_done};

    oc_send(fixture.to_aggregator, &message.transfer, &byte, sizeof(byte), tag);
    while (!message.done) {
        (void) oc_worker_progress(fixture.clients);
        (void) oc_worker_progress(aggregator->worker);
    }
}

/* Until a message that has been sent is here. */
static void arrive(uint64_t tag)
{
    uint64_t end = oc_clock_ns() + 5 * OC_SECOND;

    send_tag(tag);
    while (!oc_worker_holds(aggregator->worker, tag, OC_TAG_EXACT)) {
        assert_true(oc_clock_ns() < end);
        (void) oc_worker_progress(fixture.clients);
        (void) oc_worker_progress(aggregator->worker);
    }
}

static void contribution(uint32_t rank, uint32_t number)
{
    arrive(oc_tag(OC_KIND_CONTRIBUTION, HANDLE, rank, SEQUENCE, number));
}

static void expect_error(oc_command_type_t type, const char *text)
{
    aggregator_expect(&fixture, type, text);
}

static void expect_nothing(void)
{
    assert_null(oc_mailbox_take(&fixture.control));
    assert_false(group->failed);
}

static void sweep(unsigned times)
{
    while (times-- > 0) {
        oc_server_leftovers_sweep(aggregator);
    }
}

/* ---- when a rank acknowledges ---- */

static void test_of_one_rank(void **state)
{
    (void) state;
    assert_true(oc_server_leftovers_none_of(reduction, 1));
    contribution(1, 8);
    assert_true(oc_server_leftovers_none_of(reduction, 0));
    assert_true(oc_server_leftovers_none_of(reduction, 2));
    expect_nothing();
    assert_false(oc_server_leftovers_none_of(reduction, 1));
    expect_error(OC_COMMAND_GROUP_ERROR, "in the name of rank 1 was forged or duplicated "
                                         "(collective 5000, handle 344865)");
}

/* What has no chunk here, or is for others, was never taken for anything. */
static void test_of_others(void **state)
{
    (void) state;
    contribution(1, 9);
    arrive(oc_tag(OC_KIND_CONTRIBUTION, HANDLE ^ 1, 1, SEQUENCE, 3));
    arrive(oc_tag(OC_KIND_CONTRIBUTION, HANDLE, 1, SEQUENCE + 1, 3));
    arrive(oc_tag(OC_KIND_RESULT, HANDLE, 1, SEQUENCE, 3));
    assert_true(oc_server_leftovers_none_of(reduction, 1));
    assert_true(oc_server_leftovers_none_above(reduction));
    expect_nothing();
}

static void test_from_above(void **state)
{
    (void) state;
    arrive(oc_tag(OC_KIND_RESULT, HANDLE, 6, SEQUENCE, 0));
    assert_false(oc_server_leftovers_none_above(reduction));
    expect_error(OC_COMMAND_GROUP_ERROR, "in the name of the parent server was forged");
}

/* More chunks than tags can tell apart: each slot is looked at. */
static void test_many_chunks(void **state)
{
    (void) state;
    reduction->header.chunks = 100000;
    assert_true(oc_server_leftovers_none_of(reduction, 2));
    contribution(2, 5 * 4096 + 4095);
    assert_false(oc_server_leftovers_none_of(reduction, 2));
    expect_error(OC_COMMAND_GROUP_ERROR, "rank 2");
}

/* ---- now and then ---- */

static void test_sweep(void **state)
{
    (void) state;
    reduction->admitted = 4;
    contribution(0, 4);
    contribution(1, 7);
    sweep(3);
    expect_nothing();
    contribution(2, 3);
    sweep(1);
    expect_error(OC_COMMAND_GROUP_ERROR, "rank 2");
    /* once is enough */
    sweep(3);
    assert_null(oc_mailbox_take(&fixture.control));
}

/* While something happens there is no need. */
static void test_no_sweep_in_motion(void **state)
{
    (void) state;
    contribution(0, 0);
    for (unsigned i = 0; i < 8; i++) {
        reduction->admitted++;
        sweep(1);
        expect_nothing();
    }
    sweep(1);
    expect_error(OC_COMMAND_GROUP_ERROR, "rank 0");
}

/*
 * Ranks may be up to a window ahead of what is admitted. So far behind that, a number has the same
 * slot as one that may be early.
 */
static void test_early_is_no_leftover(void **state)
{
    (void) state;
    reduction->header.chunks = 20000;
    reduction->admitted = 10000;
    for (uint32_t i = 0; i < OC_MAX_WINDOW; i++) {
        contribution(1, reduction->admitted + i);
    }
    sweep(10);
    expect_nothing();
    contribution(1, reduction->admitted + OC_MAX_WINDOW);
    sweep(10);
    expect_error(OC_COMMAND_GROUP_ERROR, "rank 1");
}

static void test_sweep_above(void **state)
{
    (void) state;
    reduction->admitted = 2;
    arrive(oc_tag(OC_KIND_RESULT, HANDLE, 6, SEQUENCE, 2));
    sweep(3);
    expect_nothing();
    arrive(oc_tag(OC_KIND_RESULT, HANDLE, 6, SEQUENCE, 1));
    sweep(2);
    expect_error(OC_COMMAND_GROUP_ERROR, "in the name of the parent server was forged");
}

/* A reply beside the receive that should have taken it. */
static void test_sweep_reply(void **state)
{
    (void) state;
    reduction->down_tag = oc_tag(OC_KIND_REPLY, HANDLE, 6, SEQUENCE, OC_COMMIT_SLOT);
    arrive(reduction->down_tag);
    sweep(3);
    expect_nothing();
    reduction->down_posted = true;
    sweep(1);
    expect_error(OC_COMMAND_GROUP_ERROR, "in the name of the parent server was forged");
}

/* No receive is posted here, as if all had taken something that does not come. */
static void test_stuck_requests(void **state)
{
    (void) state;
    arrive(oc_tag(OC_KIND_REQUEST, HANDLE, 0, 1, 0));
    sweep(2);
    aggregator->received++;
    sweep(3);
    assert_null(oc_mailbox_take(&fixture.control));
    sweep(1);
    expect_error(OC_COMMAND_JOB_ERROR, "were announced to aggregator 0 and do not come: they were "
                                       "forged");
    sweep(5);
    assert_null(oc_mailbox_take(&fixture.control));
}

/* ---- what it takes ---- */

static double ns_each(uint64_t tag, uint64_t mask, unsigned times)
{
    uint64_t begun = oc_clock_ns();

    for (unsigned i = 0; i < times; i++) {
        assert_false(oc_worker_holds(aggregator->worker, tag + i, mask));
    }
    return (double) (oc_clock_ns() - begun) / times;
}

/* Of messages that wait, exact tags meet one in a thousand; a mask would meet all of them. */
static void test_cost(void **state)
{
    uint64_t absent = oc_tag(OC_KIND_CONTRIBUTION, HANDLE ^ 0xff, 1, SEQUENCE, 0);
    double none, exact, masked;

    (void) state;
    none = ns_each(absent, OC_TAG_EXACT, 100000);
    for (uint32_t i = 0; i < MESSAGES; i++) {
        send_tag(oc_tag(OC_KIND_CONTRIBUTION, HANDLE, i >> 12, SEQUENCE, i));
    }
    exact = ns_each(absent, OC_TAG_EXACT, 4096);
    masked = ns_each(absent, ~0xfffull, 20);
    print_message("a look for a tag: %.0f ns; with %u messages that wait %.0f ns, with a mask %.0f\n",
                  none, MESSAGES, exact, masked);
    assert_true(exact < masked / 10);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_of_one_rank, setup, teardown),
        cmocka_unit_test_setup_teardown(test_of_others, setup, teardown),
        cmocka_unit_test_setup_teardown(test_from_above, setup, teardown),
        cmocka_unit_test_setup_teardown(test_many_chunks, setup, teardown),
        cmocka_unit_test_setup_teardown(test_sweep, setup, teardown),
        cmocka_unit_test_setup_teardown(test_no_sweep_in_motion, setup, teardown),
        cmocka_unit_test_setup_teardown(test_early_is_no_leftover, setup, teardown),
        cmocka_unit_test_setup_teardown(test_sweep_above, setup_leaf, teardown),
        cmocka_unit_test_setup_teardown(test_sweep_reply, setup_leaf, teardown),
        cmocka_unit_test_setup_teardown(test_stuck_requests, setup, teardown),
        cmocka_unit_test_setup_teardown(test_cost, setup, teardown),
    };

    alarm(60);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
