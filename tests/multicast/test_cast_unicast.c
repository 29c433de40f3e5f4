/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Owns the tests of networks that stop carrying multicast: it is noticed, everything goes on by
 * messages, and what is only lost, or late, or computing is not taken for that.
 */
/* Test: quick 120; sanitizers: all 300 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "base/clock.h"
#include "tests/multicast/fixture.h"

#define MEGABYTE (1u << 20)
#define MICROSECOND (OC_MILLISECOND / 1000)
#define PATIENCE (60 * OC_SECOND)
#define PAYLOAD  (1472u - OC_DATAGRAM_HEADER)

static int set_up(void **state)
{
    (void) set_up_crew(state);
    network_real(&config.network, 2);
    return 0;
}

/* Which hosts do not get what is multicast any more, and which is not heard; a bit each. */
static struct {
    uint64_t deaf, mute;
} fate;

static void strike(void *arg)
{
    fabric_t *fabric = network_fabric(arg);

    for (unsigned host = 0; host < 64; host++) {
        if (0 != (fate.deaf >> host & 1)) {
            fabric_lose_down(fabric, host, 1);
        }
        if (0 != (fate.mute >> host & 1)) {
            fabric_lose_up(fabric, host, 1);
        }
    }
}

static void cut(uint64_t deaf, uint64_t mute, uint64_t when)
{
    fate.deaf = deaf;
    fate.mute = mute;
    network_at(crew_network(crew), network_now(crew_network(crew)) + when, strike,
               crew_network(crew));
}

static uint64_t all_of(unsigned hosts)
{
    return 64 == hosts ? UINT64_MAX : (1ull << hosts) - 1;
}

static void begin(unsigned ranks)
{
    config.network.num_nodes = ranks;
    begin_crew(ranks);
    expect_probed();
}

static void add(size_t bytes, bool blocking)
{
    (void) crew_add(crew, &(operation_t) {.block = bytes, .blocking = blocking});
}

static double took(unsigned ranks, unsigned operation)
{
    uint64_t begin = 0, end = 0;

    for (unsigned i = 0; i < ranks; i++) {
        const outcome_t *outcome = crew_outcome(crew, i, operation);

        begin = outcome->begin > begin ? outcome->begin : begin;
        end = outcome->end > end ? outcome->end : end;
    }
    return (double) (end - begin) * 1e-9;
}

/* All ranks say the same: who does not hear whom, if that is known. */
static void expect_unicast(unsigned ranks, uint32_t unheard, uint32_t receiver)
{
    for (unsigned i = 0; i < ranks; i++) {
        uint32_t owner, rank;

        assert_true(oc_cast_group_is_unicast(crew_group(crew, i), &owner, &rank));
        assert_true(UINT32_MAX == unheard || unheard == owner);
        assert_true(UINT32_MAX == receiver || receiver == rank);
    }
}

static void expect_multicast(unsigned ranks)
{
    uint32_t owner, rank;

    for (unsigned i = 0; i < ranks; i++) {
        assert_false(oc_cast_group_is_unicast(crew_group(crew, i), &owner, &rank));
        assert_false(oc_cast_group_is_closed(crew_group(crew, i)));
    }
}

static void expect_closed(unsigned ranks, bool closed)
{
    for (unsigned i = 0; i < ranks; i++) {
        assert_int_equal(oc_cast_group_is_closed(crew_group(crew, i)), closed);
    }
}

/* ---- it is noticed ---- */

/* An operation takes longer than the next one, which is without multicast, by twice of that at most. */
static void expect_little_lost(unsigned ranks, unsigned operation)
{
    assert_true(took(ranks, operation) <= 3 * took(ranks, operation + 1));
}

static void play_cut(unsigned ranks, uint64_t when)
{
    unsigned long long sent;

    begin(ranks);
    add(6 * MEGABYTE / ranks, true);
    expect_success(PATIENCE);
    expect_multicast(ranks);
    cut(all_of(ranks), 0, when);
    add(6 * MEGABYTE / ranks, true);
    expect_success(PATIENCE);
    expect_unicast(ranks, UINT32_MAX, UINT32_MAX);
    expect_closed(ranks, true);
    sent = crew_totals(crew).fragments_sent;
    add(6 * MEGABYTE / ranks, true);
    expect_success(PATIENCE);
    assert_int_equal(crew_totals(crew).fragments_sent, sent);
    expect_little_lost(ranks, 1);
    assert_true(took(ranks, 2) < 2 * took(ranks, 0));
}

/* Operations before tell how fast the network is; in some that follow milliseconds are lost, and none in the last. */
static void play_cut_of_little(unsigned ranks, size_t block)
{
    unsigned count = 12;
    double lost = 0;

    begin(ranks);
    for (unsigned i = 0; i < count; i++) {
        if (2 == i) {
            cut(all_of(ranks), 0, 300 * MICROSECOND);
        }
        add(block, true);
        expect_success(PATIENCE);
    }
    expect_unicast(ranks, UINT32_MAX, UINT32_MAX);
    assert_true(took(ranks, count - 1) < 1.1 * took(ranks, count - 2));
    for (unsigned i = 2; i + 1 < count; i++) {
        double more = took(ranks, i) - took(ranks, count - 1);

        lost += more > 0 ? more : 0;
    }
    assert_true(lost < 0.006);
}

static void test_cut_of_little(void **state)
{
    (void) state;
    play_cut_of_little(8, MEGABYTE / 8);
    play_cut_of_little(8, MEGABYTE / 32);
    play_cut_of_little(64, MEGABYTE / 64);
    play_cut_of_little(64, MEGABYTE / 256);
}

/* Of each too little is missed to tell, and nobody has ever heard how fast the network is. */
static void test_cut_before_small_operations(void **state)
{
    (void) state;
    begin(8);
    cut(all_of(8), 0, 0);
    for (unsigned i = 0; i < 12; i++) {
        add(MEGABYTE / 128, true);
    }
    expect_success(PATIENCE);
    for (unsigned i = 1; i < 12; i++) {
        assert_true(took(8, i) < 0.002);
    }
}

/* What is multicast again does not come, either: that need not be found out again at each level of the tree. */
static void test_cut_within_a_bcast(void **state)
{
    size_t lengths[64] = {MEGABYTE / 16};
    unsigned long long all = 63 * ((MEGABYTE / 16 + PAYLOAD - 1) / PAYLOAD);
    unsigned within = 0;
    double worst = 0;

    for (unsigned when = 14; when <= 126; when += 14) {
        begin(64);
        cut(all_of(64), 0, when * MICROSECOND);
        (void) crew_add(crew, &(operation_t) {.lengths = lengths, .blocking = true});
        expect_success(PATIENCE);
        within += crew_totals(crew).fragments_received > 0 && crew_totals(crew).fragments_received < all;
        worst = took(64, 0) > worst ? took(64, 0) : worst;
        (void) tear_down_crew(state);
        (void) set_up(state);
    }
    assert_true(within >= 2);
    assert_true(worst < 0.025);
}

/* Once rank 0 has missed what little there was; after that it only sends, and hears nothing that would be better. */
static void test_root_that_missed_something_multicasts_again(void **state)
{
    size_t lengths[8] = {MEGABYTE};
    fabric_t *fabric;
    unsigned long long missed;

    (void) state;
    begin(8);
    fabric = network_fabric(crew_network(crew));
    fabric_lose_down(fabric, 0, 1);
    add(3 * PAYLOAD, true);
    expect_success(PATIENCE);
    fabric_lose_down(fabric, 0, 0);
    missed = crew_totals(crew).fragments_lost;
    assert_in_range(missed, 16, 63);
    fabric_lose_up(fabric, 0, 0.05);
    (void) crew_add(crew, &(operation_t) {.lengths = lengths, .blocking = true});
    expect_success(PATIENCE);
    expect_multicast(8);
    assert_true(crew_totals(crew).fragments_lost > missed);
    assert_true(crew_counters(crew, 0)->fragments_recast > 10);
}

/* It has ended since the ranks probed, and nothing is known yet of how fast the network is. */
static void play_cut_from_the_beginning(unsigned ranks)
{
    begin(ranks);
    cut(all_of(ranks), 0, 0);
    add(6 * MEGABYTE / ranks, true);
    add(6 * MEGABYTE / ranks, true);
    expect_success(PATIENCE);
    expect_unicast(ranks, UINT32_MAX, UINT32_MAX);
    expect_little_lost(ranks, 0);
}

static void test_cut_from_the_beginning(void **state)
{
    (void) state;
    play_cut_from_the_beginning(8);
}

static void test_cut_of_many_from_the_beginning(void **state)
{
    (void) state;
    play_cut_from_the_beginning(64);
}

/* Some have multicast again what others ask for before they know, and it does not come either. */
static void test_recasts_are_cut(void **state)
{
    (void) state;
    begin(64);
    cut(all_of(64), 0, 0);
    add(MEGABYTE / 64, true);
    expect_success(PATIENCE);
    expect_unicast(64, UINT32_MAX, UINT32_MAX);
    assert_true(took(64, 0) < 0.011);
}

static void test_cut_before(void **state)
{
    (void) state;
    play_cut(8, 0);
}

static void test_cut_in_the_middle(void **state)
{
    (void) state;
    play_cut(8, 2 * OC_MILLISECOND);
}

/* Links of 1 Gbit/s: news of what was sent comes more often than looks for losses. */
static void test_cut_on_slower_links(void **state)
{
    (void) state;
    config.network.rate = 125000000;
    play_cut(8, 20 * OC_MILLISECOND);
}

static void test_cut_of_many(void **state)
{
    (void) state;
    play_cut(64, 0);
}

static void test_one_host_is_cut_off(void **state)
{
    (void) state;
    begin(8);
    cut(1u << 5, 0, 0);
    add(MEGABYTE, true);
    expect_success(PATIENCE);
    expect_unicast(8, UINT32_MAX, 5);
}

static void test_one_host_is_not_heard(void **state)
{
    (void) state;
    begin(8);
    cut(0, 1u << 5, 0);
    add(MEGABYTE, true);
    expect_success(PATIENCE);
    expect_unicast(8, 5, UINT32_MAX);
}

/* Each operation has too little to tell, but they are all the same. */
static void test_small_operations(void **state)
{
    (void) state;
    begin(8);
    cut(1u << 3, 0, 0);
    for (unsigned i = 0; i < 20; i++) {
        add(2000, true);
    }
    expect_success(PATIENCE);
    expect_unicast(8, 8, 3);
    assert_in_range(crew_totals(crew).fragments_sent, 8 * 8, 8 * 2 * 15);
}

static void test_bcast(void **state)
{
    size_t lengths[16] = {[3] = 8 * MEGABYTE};

    (void) state;
    begin(16);
    cut(all_of(16), 0, OC_MILLISECOND);
    (void) crew_add(crew, &(operation_t) {.lengths = lengths, .blocking = true});
    expect_success(PATIENCE);
    expect_unicast(16, UINT32_MAX, UINT32_MAX);
    /* it goes from host to host: no link carries it twice */
    for (unsigned host = 0; host < 16; host++) {
        assert_in_range(fabric_up(network_fabric(crew_network(crew)), host)->bytes, 0,
                        2 * 8 * MEGABYTE);
    }
}

/* Nobody hears host 5 any more, which is told of what it sends, and asked for it, without long silences. */
static void play_mute_host(unsigned ranks, size_t bytes)
{
    begin(ranks);
    add(bytes / ranks, true);
    expect_success(PATIENCE);
    cut(0, 1u << 5, OC_MILLISECOND / 5);
    for (unsigned i = 0; i < 12; i++) {
        add(bytes / ranks, true);
    }
    expect_success(PATIENCE);
    expect_unicast(ranks, 5, UINT32_MAX);
    for (unsigned i = 0; i < 12; i++) {
        assert_true(took(ranks, i) < 0.035);
    }
}

static void test_mute_host(void **state)
{
    for (unsigned ranks = 8; ranks <= 24; ranks += 16) {
        for (unsigned megabytes = 1; megabytes <= 6; megabytes += 5) {
            play_mute_host(ranks, megabytes * MEGABYTE);
            (void) tear_down_crew(state);
            (void) set_up(state);
        }
    }
}

static void test_several_ranks_a_host(void **state)
{
    unsigned hosts[12];

    (void) state;
    for (unsigned i = 0; i < 12; i++) {
        hosts[i] = i / 3;
    }
    config.network.hosts = config.hosts = hosts;
    begin(12);
    cut(all_of(4), 0, OC_MILLISECOND);
    add(MEGABYTE, true);
    add(MEGABYTE, true);
    add(1000, true);
    expect_success(PATIENCE);
    expect_unicast(12, UINT32_MAX, UINT32_MAX);
}

/* Others may have begun the next one: the ranks may not part there. */
static void test_nonblocking_goes_on(void **state)
{
    (void) state;
    begin(8);
    cut(all_of(8), 0, 0);
    add(MEGABYTE, false);
    (void) crew_add(crew, &(operation_t) {.block = MEGABYTE, .queued = true});
    expect_success(PATIENCE);
    expect_unicast(8, UINT32_MAX, UINT32_MAX);
    expect_closed(8, false);
    add(1000, true);
    expect_success(PATIENCE);
    expect_closed(8, true);
}

/* A rank that is the first to be told of the end has to be rid of it before it goes on without. */
static bool note_leave(void *arg, unsigned from, unsigned to, uint8_t *bytes, size_t length)
{
    const oc_cast_group_t *group = crew_group(crew, from);
    oc_cast_message_t message;

    (void) to;
    if (oc_cast_decode(bytes, length, &message) && OC_CAST_LEAVE == message.kind
        && message.closes) {
        ++*(unsigned *) arg;
        assert_true(0 == oc_cast_pending(group) || !oc_cast_group_is_closed(group));
    }
    return true;
}

static void test_closed_when_over(void **state)
{
    unsigned told = 0;

    (void) state;
    config.network.meddler = (meddler_t) {.message = note_leave, .arg = &told};
    begin(8);
    cut(all_of(8), 0, 0);
    add(MEGABYTE, true);
    expect_success(PATIENCE);
    expect_closed(8, true);
    assert_int_equal(told, 7);
}

/* Messages come in any order: UNICAST may be behind LEAVE. */
static void test_leave_says_enough(void **state)
{
    oc_cast_message_t message = {.kind = OC_CAST_LEAVE, .closes = true, .generation = 1};
    uint32_t owner, rank;

    (void) state;
    begin(8);
    add(1000, true);
    expect_success(PATIENCE);
    message.token = crew_token(crew);
    crew_forge(crew, 1, &message);
    (void) network_run(crew_network(crew), now() + OC_MILLISECOND, NULL, NULL);
    assert_true(oc_cast_group_is_closed(crew_group(crew, 1)));
    assert_true(oc_cast_group_is_unicast(crew_group(crew, 1), &owner, &rank));
}

/* ---- it is not believed too soon ---- */

static void test_losses_are_no_cut(void **state)
{
    (void) state;
    begin(16);
    for (unsigned host = 0; host < 16; host++) {
        fabric_lose_down(network_fabric(crew_network(crew)), host, 0.5);
    }
    for (unsigned i = 0; i < 10; i++) {
        add(100000, true);
    }
    expect_success(PATIENCE);
    assert_true(crew_totals(crew).fragments_lost > 0);
    expect_multicast(16);
}

/* A share of what is multicast is lost for a while. */
static double bad;

static void lose_everywhere(double share)
{
    for (unsigned host = 0; host < 8; host++) {
        fabric_lose_down(network_fabric(crew_network(crew)), host, share);
    }
}

static void turn_bad(void *arg)
{
    (void) arg;
    lose_everywhere(bad);
}

static void turn_good(void *arg)
{
    (void) arg;
    lose_everywhere(0);
}

static void become_deaf(void *fabric)
{
    fabric_lose_down(fabric, 3, 1);
}

static void become_well(void *fabric)
{
    fabric_lose_down(fabric, 3, 0);
}

static void gap_of(fabric_t *fabric, uint64_t from, uint64_t time)
{
    network_at(crew_network(crew), now() + from, become_deaf, fabric);
    network_at(crew_network(crew), now() + from + time, become_well, fabric);
}

static void play_burst(double share, uint64_t time)
{
    uint64_t begin_at;

    begin(8);
    bad = share;
    begin_at = network_now(crew_network(crew)) + OC_MILLISECOND;
    network_at(crew_network(crew), begin_at, turn_bad, NULL);
    network_at(crew_network(crew), begin_at + time, turn_good, NULL);
    add(2 * MEGABYTE, true);
    add(2 * MEGABYTE, true);
    expect_success(PATIENCE);
    assert_true(crew_totals(crew).fragments_lost > 8 * 64);
    expect_multicast(8);
}

/* What others send may keep a queue full for some milliseconds, of which little comes through. */
static void test_burst_is_no_cut(void **state)
{
    (void) state;
    play_burst(0.95, 10 * OC_MILLISECOND);
}

static void test_full_queues_everywhere_are_no_cut(void **state)
{
    (void) state;
    play_burst(1, OC_MILLISECOND);
}

/* It sleeps while the others begin and go on without it: its buffer has no room for what they send. */
static void test_sleeping_while_others_begin_is_no_cut(void **state)
{
    (void) state;
    config.network.staging = 256u << 10;
    begin(8);
    add(1000, true);
    expect_success(PATIENCE);
    for (unsigned i = 1; i < 20; i++) {
        crew_pause(crew, 3, now() + i * 2 * MICROSECOND, 50 * OC_MILLISECOND);
        add(2 * MEGABYTE, true);
        expect_success(PATIENCE);
    }
    assert_true(crew_counters(crew, 3)->fragments_lost > 20 * 64);
    expect_multicast(8);
}

/* Host 3 gets nothing for a while, in a large operation after small ones, which tell how fast the network is. */
static void play_gap(const operation_t *operation, uint64_t from, uint64_t time)
{
    fabric_t *fabric;

    begin(8);
    fabric = network_fabric(crew_network(crew));
    add(1000, true);
    add(1000, true);
    expect_success(PATIENCE);
    gap_of(fabric, from, time);
    (void) crew_add(crew, operation);
    add(1000, true);
    expect_success(PATIENCE);
    assert_true(crew_counters(crew, 3)->fragments_lost > 0);
    expect_multicast(8);
}

/* A queue that has run over is empty again after a while, whenever that was. */
static void test_full_queue_is_no_cut(void **state)
{
    static const uint64_t moments[] = {0, 300, 1500}, times[] = {400, 800};
    const size_t bcast[8] = {8 * MEGABYTE};
    const operation_t operations[] = {{.block = MEGABYTE, .blocking = true},
                                      {.lengths = bcast, .blocking = true}};

    for (unsigned i = 0; i < 3 * 2 * 2; i++) {
        play_gap(&operations[i % 2], moments[i / 4] * MICROSECOND,
                 times[i / 2 % 2] * MICROSECOND);
        (void) tear_down_crew(state);
        (void) set_up(state);
    }
}

/* Most blocks are here at once, and what is looked for are those that are not. */
static void test_small_losses_are_no_cut(void **state)
{
    (void) state;
    begin(8);
    for (unsigned host = 0; host < 8; host++) {
        fabric_lose_down(network_fabric(crew_network(crew)), host, 0.05);
    }
    for (unsigned i = 0; i < 500; i++) {
        add(1000, true);
    }
    expect_success(PATIENCE);
    assert_in_range(crew_totals(crew).fragments_lost, 8 * 64, 8 * 7 * 50);
    expect_multicast(8);
}

/* Its buffer has no room for what others send meanwhile. */
static void test_computing_is_no_cut(void **state)
{
    operation_t operation = {.block = 4 * MEGABYTE};

    (void) state;
    config.network.staging = 256u << 10;
    begin(8);
    (void) crew_add(crew, &operation);
    crew_pause(crew, 3, network_now(crew_network(crew)) + 2 * OC_MILLISECOND, OC_SECOND);
    expect_success(PATIENCE);
    expect_multicast(8);
}

/*
 * Those in which a rank computes tell nothing; what it misses in one of the others is not enough.
 */
static void test_one_operation_is_no_cut(void **state)
{
    uint32_t owner, rank;

    (void) state;
    begin(8);
    for (unsigned i = 0; i < 12; i++) {
        crew_pause(crew, 3, now() + OC_MILLISECOND / 50, 30 * OC_MILLISECOND);
        add(20 * PAYLOAD, false);
        expect_success(PATIENCE);
    }
    fabric_lose_down(network_fabric(crew_network(crew)), 3, 1);
    add(20 * PAYLOAD, false);
    expect_success(PATIENCE);
    fabric_lose_down(network_fabric(crew_network(crew)), 3, 0);
    assert_true(crew_counters(crew, 3)->fragments_lost >= 7 * 20);
    assert_false(oc_cast_group_is_unicast(crew_group(crew, 3), &owner, &rank));
}

/* Who waits for a late rank looks all the time, and so is not excused. */
static void test_late_rank_excuses_nobody(void **state)
{
    (void) state;
    begin(8);
    add(MEGABYTE / 8, true);
    expect_success(PATIENCE);
    cut(1u << 5, 0, 0);
    (void) crew_add(crew, &(operation_t) {.block = MEGABYTE / 8, .blocking = true,
                                          .compute = {[0] = 30 * OC_MILLISECOND}});
    expect_success(PATIENCE);
    expect_unicast(8, UINT32_MAX, 5);
}

/* Nobody hears anything in the first one; all compute in those that follow, and hear all but what is lost. */
static void test_computing_is_no_silence(void **state)
{
    unsigned long long recast;
    fabric_t *fabric;

    (void) state;
    begin(8);
    fabric = network_fabric(crew_network(crew));
    for (unsigned host = 0; host < 8; host++) {
        fabric_lose_down(fabric, host, 1);
    }
    add(3 * PAYLOAD, true);
    expect_success(PATIENCE);
    for (unsigned host = 0; host < 8; host++) {
        fabric_lose_down(fabric, host, 0);
        fabric_lose_up(fabric, host, 0.1);
    }
    recast = crew_totals(crew).fragments_recast;
    for (unsigned i = 0; i < 4; i++) {
        for (unsigned rank = 0; rank < 8; rank++) {
            crew_pause(crew, rank, now() + OC_MILLISECOND / 50, 30 * OC_MILLISECOND);
        }
        add(20 * PAYLOAD, false);
        expect_success(PATIENCE);
    }
    expect_multicast(8);
    assert_true(crew_totals(crew).fragments_recast > recast + 20);
}

/* Some hosts hear nobody, and all ranks compute in all operations. */
static void play_computing(uint64_t deaf, unsigned operations)
{
    begin(8);
    add(MEGABYTE / 8, true);
    expect_success(PATIENCE);
    cut(deaf, 0, 0);
    for (unsigned i = 0; i < operations; i++) {
        for (unsigned rank = 0; rank < 8; rank++) {
            crew_pause(crew, rank, now() + OC_MILLISECOND / 10, 30 * OC_MILLISECOND);
        }
        add(20 * PAYLOAD, false);
        expect_success(PATIENCE);
    }
}

static void test_computing_does_not_hide_it(void **state)
{
    (void) state;
    play_computing(1u << 5, 7);
    expect_multicast(8);
    (void) tear_down_crew(state);
    (void) set_up(state);
    play_computing(1u << 5, 9);
    expect_unicast(8, 8, 5);
    (void) tear_down_crew(state);
    (void) set_up(state);
    play_computing(0, 20);
    expect_multicast(8);
}

/*
 * One after the other sends what a rank that is away has no room for: all of the last ones is lost, each
 * time.
 */
static void test_computing_in_turns_is_no_cut(void **state)
{
    (void) state;
    config.chains = 1;
    config.network.staging = 138 * 1472;
    begin(32);
    for (unsigned i = 0; i < 12; i++) {
        add(20 * PAYLOAD, false);
        crew_pause(crew, 31, now() + OC_MILLISECOND / 5, 200 * OC_MILLISECOND);
        expect_success(PATIENCE);
    }
    assert_true(crew_counters(crew, 31)->fragments_lost > 12 * 64);
    expect_multicast(32);
}

/* ---- nobody waits for whom waits for him ---- */

static void test_no_circle_waits(void **state)
{
    static const uint64_t moments[] = {OC_MILLISECOND / 2, 2 * OC_MILLISECOND, 3 * OC_MILLISECOND};

    (void) state;
    for (unsigned i = 0; i < sizeof(moments) / sizeof(moments[0]); i++) {
        begin(64);
        cut(all_of(64), 0, moments[i]);
        add(6 * MEGABYTE / 64, true);
        expect_success(OC_SECOND);
        (void) tear_down_crew(state);
        (void) set_up(state);
    }
}

/* ---- what makes no sense ---- */

static void test_wrong_ranks_are_dropped(void **state)
{
    oc_cast_message_t message = {.kind = OC_CAST_UNICAST, .rank = 1, .block = 9, .number = 2};

    (void) state;
    begin(8);
    message.token = crew_token(crew);
    crew_forge(crew, 0, &message);
    message.block = 3;
    message.number = 8;
    crew_forge(crew, 0, &message);
    add(1000, true);
    expect_success(PATIENCE);
    expect_multicast(8);
    assert_true(crew_counters(crew, 0)->fragments_foreign >= 2);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down_crew)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_cut_before),
        TEST(test_cut_from_the_beginning),
        TEST(test_cut_in_the_middle),
        TEST(test_cut_on_slower_links),
        TEST(test_cut_of_many),
        TEST(test_cut_of_many_from_the_beginning),
        TEST(test_cut_of_little),
        TEST(test_cut_before_small_operations),
        TEST(test_cut_within_a_bcast),
        TEST(test_root_that_missed_something_multicasts_again),
        TEST(test_recasts_are_cut),
        TEST(test_one_host_is_cut_off),
        TEST(test_one_host_is_not_heard),
        TEST(test_small_operations),
        TEST(test_bcast),
        TEST(test_mute_host),
        TEST(test_several_ranks_a_host),
        TEST(test_nonblocking_goes_on),
        TEST(test_closed_when_over),
        TEST(test_leave_says_enough),
        TEST(test_losses_are_no_cut),
        TEST(test_small_losses_are_no_cut),
        TEST(test_burst_is_no_cut),
        TEST(test_full_queues_everywhere_are_no_cut),
        TEST(test_sleeping_while_others_begin_is_no_cut),
        TEST(test_full_queue_is_no_cut),
        TEST(test_computing_is_no_cut),
        TEST(test_one_operation_is_no_cut),
        TEST(test_late_rank_excuses_nobody),
        TEST(test_computing_does_not_hide_it),
        TEST(test_computing_is_no_silence),
        TEST(test_computing_in_turns_is_no_cut),
        TEST(test_no_circle_waits),
        TEST(test_wrong_ranks_are_dropped),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
