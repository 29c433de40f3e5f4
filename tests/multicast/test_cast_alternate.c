/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Owns the tests of two groups that alternate: an operation is announced while the one before runs, begins when that
 * has been sent, does not wait for its repairs, and nothing of the one becomes different for the other.
 */
/* Test: quick 60; sanitizers: all 120 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "base/clock.h"
#include "multicast/core/cast_types.h"
#include "tests/multicast/fixture.h"

#define RANKS    4u
#define BLOCK    (256u << 10)
#define PATIENCE (60 * OC_SECOND)
#define REPAIR   (40 * OC_MILLISECOND) /* that messages take, where they are slow */

/* What went over the network. */
static struct {
    uint64_t second_begins;    /* when the first fragment of the second group came; 0: none has */
    uint64_t last_of_first;    /* … and the last one of the first group, as first sent */
    unsigned after;            /* fragments of the first group that came when one of the second had */
    uint64_t loser_begins;     /* when the first fragment of LOSER in the second group came to others … */
    uint64_t repaired;         /* … and when LOSER was first sent a repair in the first group */
    uint64_t entered[2];       /* when the last ENTER of the group's first operation was on its way */
    bool loses;                /* LOSER does not get some of the first group, LATE / 2 of each block near its end */
    bool cuts;                 /* LOSER does not get the end of the block of rank 1 in the first group … */
    unsigned polls;            /* … and has asked so often how much of it there is */
    bool early;                /* a blocking operation was announced while others were pending */
} seen;

#define LOSER  2u
#define LATE   20u
#define CUT    3u
#define FEW    8u  /* fragments of which a rank need not know that they have been sent */
#define STAGED 138u /* datagrams: what Linux has room for by default */

static bool is_second(uint64_t token)
{
    return crew_token(crew) != token;
}

/* The first time. */
static void note(uint64_t *when)
{
    *when = 0 == *when ? now() : *when;
}

static bool watch_datagram(void *arg, unsigned from, unsigned to, uint8_t *bytes, size_t length)
{
    oc_datagram_t header;

    (void) arg;
    if (!oc_datagram_decode(bytes, length, &header) || OC_DATAGRAM_FRAGMENT != header.kind) {
        return true;
    }
    if (is_second(header.token)) {
        note(&seen.second_begins);
        if (LOSER == from) {
            note(&seen.loser_begins);
        }
        return true;
    }
    seen.last_of_first = now();
    seen.after += 0 != seen.second_begins;
    if (LOSER == to && 1 == from && seen.cuts && header.index + CUT >= crew_fragments(crew, BLOCK)) {
        return false;
    }
    return !(LOSER == to && seen.loses && header.index >= crew_fragments(crew, BLOCK) - LATE
             && header.index < crew_fragments(crew, BLOCK) - LATE / 2);
}

static bool others_are_over(unsigned rank, unsigned operation)
{
    for (unsigned i = 0; i < operation; i++) {
        if (!crew_outcome(crew, rank, i)->over) {
            return false;
        }
    }
    return true;
}

static bool watch_message(void *arg, unsigned from, unsigned to, uint8_t *bytes, size_t length)
{
    oc_cast_message_t message;

    (void) arg;
    if (!oc_cast_decode(bytes, length, &message)) {
        return true;
    }
    if (OC_CAST_REPAIR == message.kind && LOSER == to && !is_second(message.token)) {
        note(&seen.repaired);
    }
    seen.polls += OC_CAST_POLL == message.kind && LOSER == from && !is_second(message.token)
                  && 1 == message.block;
    if (OC_CAST_ENTER != message.kind) {
        return true;
    }
    if (1 == message.generation) {
        seen.entered[is_second(message.token)] = now();
    } else if (!others_are_over(from, 2)) {
        seen.early = true;
    }
    return true;
}

static int set_up(void **state)
{
    (void) set_up_crew(state);
    memset(&seen, 0, sizeof(seen));
    config.network.meddler = (meddler_t) {.datagram = watch_datagram, .message = watch_message};
    config.network.rate = 12500000;
    config.alternates = true;
    return 0;
}

static void begin(void)
{
    begin_crew(RANKS);
    expect_probed();
}

static void add(bool blocking, bool queued)
{
    (void) crew_add(crew, &(operation_t) {.block = BLOCK, .blocking = blocking, .queued = queued});
}

static uint64_t end_of(unsigned operation)
{
    uint64_t end = 0;

    for (unsigned i = 0; i < RANKS; i++) {
        uint64_t one = crew_outcome(crew, i, operation)->end;

        end = one > end ? one : end;
    }
    return end;
}

/* ---- when they begin ---- */

static void play_two(bool alternates)
{
    config.alternates = alternates;
    memset(&seen, 0, sizeof(seen));
    begin();
    add(false, false);
    add(false, true);
    expect_success(PATIENCE);
}

/* All ranks have said that they are there long before the first one has been sent. */
static void test_announced(void **state)
{
    (void) state;
    play_two(true);
    assert_true(0 != seen.entered[1] && seen.entered[1] < seen.last_of_first);
}

static void test_in_order(void **state)
{
    (void) state;
    config.network.latency = 1000; /* or one rank could be that much ahead of the others */
    play_two(true);
    assert_true(seen.after <= FEW * RANKS);
    assert_true(0 != seen.second_begins);
    assert_int_equal(crew_totals(crew).fragments_lost, 0);
}

/* DONE, LEAVE, ENTER and GO take as long as four messages. */
static void test_not_for_messages(void **state)
{
    uint64_t alone, together;

    (void) state;
    config.network.message_min = config.network.message_max = REPAIR;
    play_two(false);
    alone = end_of(1) - crew_outcome(crew, 0, 0)->begin;
    play_two(true);
    together = end_of(1) - crew_outcome(crew, 0, 0)->begin;
    assert_true(together + 3 * REPAIR < alone);
}

/* Who lacks something goes on with the others, before it has asked for it. */
static void test_not_for_repairs(void **state)
{
    (void) state;
    config.network.message_min = config.network.message_max = REPAIR;
    begin();
    seen.loses = true;
    add(false, false);
    add(false, true);
    expect_success(PATIENCE);
    assert_true(crew_totals(crew).fragments_recovered >= LATE / 2);
    assert_true(0 != seen.loser_begins && seen.loser_begins < seen.repaired);
    assert_true(seen.loser_begins < seen.last_of_first + 2 * OC_MILLISECOND);
}

/* What comes of a rank in the second group tells that its block in the first one has ended: nobody has to ask. */
static void test_end_is_told(void **state)
{
    (void) state;
    config.network.message_min = config.network.message_max = REPAIR;
    begin();
    seen.cuts = true;
    add(false, false);
    add(false, true);
    expect_success(PATIENCE);
    assert_int_equal(crew_totals(crew).fragments_recovered, CUT);
    assert_int_equal(seen.polls, 0);
}

/* Those that send are ahead of the others, which say how far they are only now and then. */
static void test_few_send(void **state)
{
    size_t lengths[RANKS] = {[1] = 4 * BLOCK};

    (void) state;
    begin();
    (void) crew_add(crew, &(operation_t) {.lengths = lengths});
    (void) crew_add(crew, &(operation_t) {.lengths = lengths, .queued = true});
    expect_success(PATIENCE);
    for (unsigned i = 0; i < RANKS; i++) {
        assert_true(crew_outcome(crew, i, 0)->end <= seen.second_begins);
    }
    assert_true(seen.entered[1] < seen.last_of_first);
}

static void test_blocking_waits(void **state)
{
    (void) state;
    config.network.message_min = config.network.message_max = REPAIR;
    begin();
    add(false, false);
    add(false, true);
    add(true, true);
    add(false, false);
    expect_success(PATIENCE);
    assert_false(seen.early);
}

static void test_many(void **state)
{
    (void) state;
    config.network.faults.drop = 0.02;
    begin();
    for (unsigned i = 0; i < 9; i++) {
        add(false, i > 0);
    }
    expect_success(PATIENCE);
}

/* Sockets keep no more datagrams than ranks have said, and one that is elsewhere for a moment loses none of them. */
static void play_small(const size_t *lengths, uint64_t away)
{
    config.network.staging = STAGED * config.network.datagram_size;
    config.staging = STAGED;
    begin();
    (void) crew_add(crew, &(operation_t) {.block = BLOCK / 4});
    (void) crew_add(crew, &(operation_t) {.block = BLOCK / 4, .lengths = lengths, .queued = true});
    crew_pause(crew, LOSER, now() + away, 15 * OC_MILLISECOND);
    expect_success(PATIENCE);
    assert_int_equal(network_traffic(crew_network(crew), LOSER)->lost_at_node, 0);
}

static void test_small_sockets(void **state)
{
    size_t lengths[RANKS] = {[1] = BLOCK};

    (void) state;
    config.network.rate *= 10;
    for (uint64_t away = 0; away < 3 * OC_MILLISECOND; away += OC_MILLISECOND / 50) {
        play_small(NULL, away);
        play_small(lengths, away);
    }
}

/* ---- what becomes of them ---- */

static void test_failure(void **state)
{
    oc_cast_args_t args = {.block = 1};

    (void) state;
    begin();
    for (unsigned i = 0; i < 4; i++) {
        add(false, i > 0);
    }
    crew_kill(crew, 1, now() + OC_MILLISECOND, OC_MILLISECOND);
    (void) crew_finish(crew, PATIENCE);
    assert_string_equal(network_complaint(crew_network(crew)), "");
    for (unsigned i = 0; i < RANKS; i++) {
        if (1 != i) {
            assert_int_equal(crew_outcome(crew, i, 3)->status, OC_ERR_UNREACHABLE);
            assert_int_equal(oc_cast_start(crew_group(crew, i), &args, now()), OC_ERR_UNREACHABLE);
            assert_int_equal(oc_cast_start(crew_second(crew, i), &args, now()), OC_ERR_UNREACHABLE);
            assert_string_equal(oc_cast_group_reason(crew_second(crew, i)),
                                oc_cast_group_reason(crew_group(crew, i)));
        }
    }
}

static void lose_all(void *arg)
{
    for (unsigned host = 0; host < RANKS; host++) {
        fabric_lose_down(network_fabric(arg), host, 1);
    }
}

/* One of them finds out, and both go on without; both count as one. */
static void test_unicast(void **state)
{
    uint32_t owner, rank;

    (void) state;
    begin();
    network_at(crew_network(crew), now() + OC_MILLISECOND, lose_all, crew_network(crew));
    for (unsigned i = 0; i < 4; i++) {
        add(false, i > 0);
    }
    expect_success(PATIENCE);
    assert_int_equal(crew_totals(crew).groups_unicast, RANKS);
    for (unsigned i = 0; i < RANKS; i++) {
        assert_true(oc_cast_group_is_unicast(crew_group(crew, i), &owner, &rank));
        assert_true(oc_cast_group_is_unicast(crew_second(crew, i), &owner, &rank));
        assert_false(oc_cast_group_is_closed(crew_group(crew, i)));
    }
    add(false, false);
    add(true, true);
    expect_success(PATIENCE);
    for (unsigned i = 0; i < RANKS; i++) {
        assert_true(oc_cast_group_is_closed(crew_group(crew, i)));
        assert_int_equal(oc_cast_pending(crew_second(crew, i)), 0);
    }
}

/* The second group has had no operation, and does not have to find out. */
static void test_unicast_is_shared(void **state)
{
    uint32_t owner, rank;

    (void) state;
    begin();
    network_at(crew_network(crew), now() + OC_MILLISECOND, lose_all, crew_network(crew));
    add(true, false);
    add(true, false);
    expect_success(PATIENCE);
    for (unsigned i = 0; i < RANKS; i++) {
        assert_true(oc_cast_group_is_unicast(crew_group(crew, i), &owner, &rank));
        assert_true(oc_cast_group_is_unicast(crew_second(crew, i), &owner, &rank));
    }
    assert_int_equal(crew_totals(crew).groups_unicast, RANKS);
}

/* What the first group has found out about the network the second one begins with. */
static void test_learnt(void **state)
{
    uint64_t before;

    (void) state;
    config.network.rate *= 10;
    begin();
    before = crew_second(crew, 0)->reorder;
    add(true, false);
    expect_success(PATIENCE);
    for (unsigned i = 0; i < RANKS; i++) {
        assert_true(crew_second(crew, i)->reorder < before);
        assert_int_equal(crew_second(crew, i)->reorder, crew_group(crew, i)->reorder);
        assert_int_equal(crew_second(crew, i)->patience, crew_group(crew, i)->patience);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_announced, set_up, tear_down_crew),
        cmocka_unit_test_setup_teardown(test_in_order, set_up, tear_down_crew),
        cmocka_unit_test_setup_teardown(test_not_for_messages, set_up, tear_down_crew),
        cmocka_unit_test_setup_teardown(test_not_for_repairs, set_up, tear_down_crew),
        cmocka_unit_test_setup_teardown(test_end_is_told, set_up, tear_down_crew),
        cmocka_unit_test_setup_teardown(test_few_send, set_up, tear_down_crew),
        cmocka_unit_test_setup_teardown(test_blocking_waits, set_up, tear_down_crew),
        cmocka_unit_test_setup_teardown(test_many, set_up, tear_down_crew),
        cmocka_unit_test_setup_teardown(test_small_sockets, set_up, tear_down_crew),
        cmocka_unit_test_setup_teardown(test_learnt, set_up, tear_down_crew),
        cmocka_unit_test_setup_teardown(test_failure, set_up, tear_down_crew),
        cmocka_unit_test_setup_teardown(test_unicast, set_up, tear_down_crew),
        cmocka_unit_test_setup_teardown(test_unicast_is_shared, set_up, tear_down_crew),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
