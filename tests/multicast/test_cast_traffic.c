/* SPDX-License-Identifier: BSD-3-Clause */
/* Owns the tests of what an operation costs: datagrams, messages, time, and queues that hold. */
/* Test: quick 120; sanitizers: all 240 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/clock.h"
#include "multicast/core/cast_types.h"
#include "tests/multicast/fixture.h"
#include "tests/multicast/flow.h"

#define RANKS    8
#define MEGABYTE (1u << 20)

/* 200 Mbit/s. */
#define SLOW_LINK 25000000ull

static void play(const operation_t *operation)
{
    begin_crew(RANKS);
    expect_probed();
    (void) crew_add(crew, operation);
    expect_success(60 * OC_SECOND);
}

static void expect_nothing_lost(void)
{
    for (unsigned i = 0; i < config.network.num_nodes; i++) {
        assert_int_equal(network_traffic(crew_network(crew), i)->lost_at_port, 0);
        assert_int_equal(network_traffic(crew_network(crew), i)->lost_at_node, 0);
    }
    assert_int_equal(crew_totals(crew).fragments_lost, 0);
    assert_int_equal(crew_totals(crew).fragments_recovered, 0);
    assert_int_equal(crew_totals(crew).repair_bytes, 0);
}

/* Seconds from the first beginning to the last end. */
static double seconds(void)
{
    uint64_t begin = UINT64_MAX, end = 0;

    for (unsigned i = 0; i < config.network.num_nodes; i++) {
        const outcome_t *outcome = crew_outcome(crew, i, 0);

        begin = outcome->begin < begin ? outcome->begin : begin;
        end = outcome->end > end ? outcome->end : end;
    }
    return (double) (end - begin) * 1e-9;
}

/* Chains: chosen, as many as ranks, one. */
static const uint32_t schedules[] = {0, TOGETHER, 1};

#define NUM_SCHEDULES (sizeof(schedules) / sizeof(schedules[0]))

/* Datagrams that make a block, and their bytes: each is sent once. */
static void test_each_fragment_is_sent_once(void **state)
{
    (void) state;
    for (unsigned s = 0; s < NUM_SCHEDULES; s++) {
        unsigned fragments;

        config.chains = schedules[s];
        play(&(operation_t) {.block = 2 * MEGABYTE, .blocking = true});
        fragments = crew_fragments(crew, 2 * MEGABYTE);
        for (unsigned i = 0; i < 8; i++) {
            const traffic_t *traffic = network_traffic(crew_network(crew), i);

            assert_int_equal(crew_counters(crew, i)->fragments_sent, fragments);
            assert_int_equal(crew_counters(crew, i)->fragments_received, 7 * fragments);
            /* a few are probes, which are as large */
            assert_in_range(traffic->datagrams, fragments, fragments + 20);
            assert_in_range(traffic->datagram_bytes, 2 * MEGABYTE,
                            2 * MEGABYTE + 4 + fragments * OC_DATAGRAM_HEADER
                                + 20 * config.network.datagram_size);
        }
        expect_nothing_lost();
    }
}

/* Once ranks know how to reach each other. */
static void test_control_is_little(void **state)
{
    unsigned long long before[RANKS];

    (void) state;
    for (unsigned s = 0; s < NUM_SCHEDULES; s++) {
        config.chains = schedules[s];
        config.network.rate = SLOW_LINK;
        play(&(operation_t) {.block = 20000, .blocking = true});
        for (unsigned i = 0; i < RANKS; i++) {
            before[i] = crew_counters(crew, i)->control_bytes;
        }
        (void) crew_add(crew, &(operation_t) {.block = 2 * MEGABYTE, .blocking = true});
        expect_success(60 * OC_SECOND);
        for (unsigned i = 0; i < RANKS; i++) {
            /* in turn the root tells all others how far they are, in steps that are small on slow links */
            unsigned long long most = 2 * MEGABYTE / (1 == schedules[s] && 0 == i ? 25 : 64);

            assert_true(crew_counters(crew, i)->control_bytes - before[i] < most);
        }
    }
}

/*
 * All ranks send at once on links that carry what one sends: no queue may hold more than the
 * window, however fast a link is.
 */
static void play_window(uint64_t rate, const operation_t *operation)
{
    config.network.rate = rate;
    config.network.port_queue = config.window + 64 * 1024;
    config.network.staging = config.window + 64 * 1024;
    play(operation);
    expect_nothing_lost();
}

/*
 * What the kernel leaves in pieces is silent between them, for as long as the pieces of all others take. After
 * some needless questions that is known.
 */
static void test_pieces_are_not_taken_for_losses(void **state)
{
    unsigned long long messages;

    (void) state;
    network_real(&config.network, 16);
    config.network.rate = SLOW_LINK;
    config.network.piece = 16384;
    begin_crew(16);
    expect_probed();
    for (unsigned i = 0; i < 3; i++) {
        messages = crew_totals(crew).control_messages;
        (void) crew_add(crew, &(operation_t) {.block = MEGABYTE, .blocking = true});
        expect_success(60 * OC_SECOND);
    }
    expect_nothing_lost();
    /* ENTER, GO, DONE and LEAVE along fifteen edges, and two for each question */
    assert_in_range(crew_totals(crew).control_messages - messages, 4 * 15, 4 * 15 + 2 * 16);
}

static void test_queues_hold_the_window(void **state)
{
    (void) state;
    config.chains = TOGETHER;
    play_window(1250000000, &(operation_t) {.block = MEGABYTE, .blocking = true});
    play_window(SLOW_LINK, &(operation_t) {.block = MEGABYTE, .blocking = true});
}

static void test_queues_hold_small_windows(void **state)
{
    (void) state;
    config.chains = TOGETHER;
    config.window = 64 << 10;
    play_window(SLOW_LINK, &(operation_t) {.block = MEGABYTE, .blocking = true});
}

/*
 * Ranks that send little receive more than those that send much, which do not see it: they must
 * not all send at once.
 */
static void test_queues_hold_unequal_blocks(void **state)
{
    static const size_t lengths[][8] = {
        {4 * MEGABYTE, 5000, MEGABYTE, 100, 0, 70000, MEGABYTE, 3},
        {0, MEGABYTE, 0, 0, 0, MEGABYTE, 0, 0},
        {300000, 0, 300000, 0, 300000, 0, 300000, 0},
        {0, 0, 0, 8 * MEGABYTE, 0, 0, 0, 0}};

    (void) state;
    for (unsigned i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
        play_window(SLOW_LINK, &(operation_t) {.lengths = lengths[i], .blocking = true});
    }
}

/* Who sends alone waits for ranks that are slow, in a call or out of it, for a while. */
static void test_queues_hold_when_receivers_sleep(void **state)
{
    static const size_t lengths[8] = {[3] = 32 * MEGABYTE};

    (void) state;
    config.network.rate = 1250000000;
    config.network.port_queue = config.window + 64 * 1024;
    config.network.staging = config.window + 64 * 1024;
    begin_crew(RANKS);
    expect_probed();
    (void) crew_add(crew, &(operation_t) {.lengths = lengths, .blocking = true});
    for (unsigned i = 0; i < 8; i++) {
        uint64_t when = now() + (2 + i) * OC_MILLISECOND;

        crew_pause(crew, (3 + i) % 8, when, 10 * OC_MILLISECOND);
    }
    expect_success(60 * OC_SECOND);
    expect_nothing_lost();
}

/* What ranks keep is a limit of its own, also while one of them stands still. */
static void play_small_staging(unsigned ranks, size_t datagram_size, unsigned datagrams)
{
    network_real(&config.network, ranks);
    config.network.datagram_size = datagram_size;
    config.network.staging = datagrams * datagram_size;
    config.staging = datagrams;
    begin_crew(ranks);
    expect_probed();
    (void) crew_add(crew, &(operation_t) {.block = 16 * MEGABYTE / ranks, .blocking = true});
    crew_pause(crew, ranks / 2, now() + 4 * OC_MILLISECOND, 10 * OC_MILLISECOND);
    expect_success(60 * OC_SECOND);
    expect_nothing_lost();
}

static void test_staging_holds(void **state)
{
    static const unsigned ranks[] = {2, 4, 8, 16, 32, 64};

    (void) state;
    for (unsigned i = 0; i < sizeof(ranks) / sizeof(ranks[0]); i++) {
        /* 208 KiB of the kernel, and those of a ring of 512 KiB */
        play_small_staging(ranks[i], 1472, 138);
        play_small_staging(ranks[i], 8972, 19);
        play_small_staging(ranks[i], 1472, 356);
    }
}

/* Some send and others do not, who receive more than these: datagrams of 9000 bytes, 10 Gbit/s. */
static void play_some_chains(unsigned ranks, uint64_t seed, uint64_t pause)
{
    network_real(&config.network, ranks);
    config.network.seed = seed;
    config.network.datagram_size = 8972;
    config.network.port_queue = MEGABYTE;
    config.network.staging = 4 * MEGABYTE;
    begin_crew(ranks);
    expect_probed();
    (void) crew_add(crew, &(operation_t) {.block = 16 * MEGABYTE / ranks, .blocking = true});
    if (pause > 0) {
        crew_pause(crew, 1, now() + 4 * OC_MILLISECOND, pause);
    }
    expect_success(60 * OC_SECOND);
    expect_nothing_lost();
}

static void test_queues_hold_some_chains(void **state)
{
    (void) state;
    config.chains = 4;
    play_some_chains(16, 1, 0);
    config.chains = 0;
    play_some_chains(24, 1, 0);
    play_some_chains(32, 1, 0);
}

/* What ranks in turn are told of each other must not wait for anything but the network. */
static void test_credit_is_told_in_time(void **state)
{
    (void) state;
    config.window = 128 << 10;
    play_some_chains(8, 1, 0);
    /* 16 MiB take 13.6 ms, and each of eight turns two times what the window takes */
    assert_true(seconds() < 0.0165);
    play_some_chains(32, 1, 0);
    assert_true(seconds() < 0.0180);
}

/* Three fragments of each are enough to keep in step, and then no rank is idle in any turn. */
static void test_small_shares_keep_in_step(void **state)
{
    (void) state;
    play_some_chains(16, 1, 0);
    assert_true(seconds() < 0.0130);
}

/* The next rank of a chain begins when the one before ends, and not when a message comes then. */
static void test_turns_cost_little(void **state)
{
    (void) state;
    play_some_chains(24, 1, 0);
    assert_true(seconds() < 0.0147);
    play_some_chains(64, 1, 0);
    assert_true(seconds() < 0.0150);
}

/* What the ranks of a way have not told yet must not be all that a sender waits for. */
static void test_credit_is_told_in_the_end(void **state)
{
    const uint64_t pause = 15 * OC_MILLISECOND;

    (void) state;
    for (uint64_t seed = 1; seed <= 3; seed++) {
        play_some_chains(64, seed, pause);
        /* the operation takes 15 ms without it, and a chain counts as silent after 20 */
        assert_true(seconds() < 0.015 + 1e-9 * (double) pause + 0.010);
    }
}

static void refill(void *arg, flow_t *flow, void *thing)
{
    (void) arg;
    flow_send(flow, MEGABYTE, thing);
}

/* Beside some operations, or beside each other: what all have got at least of a link. */
typedef struct {
    size_t port;                 /* bytes that a port keeps */
    unsigned streams;            /* of TCP, each from a host to the next one */
    unsigned operations;
    double bytes;                /* that come to each rank in one */
    double share;                /* of the link, at least */
    bool alone_first;            /* streams begin after one operation */
} sharing_t;

static void begin_streams(flow_t **flows, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        flow_config_t flow = {.from = i, .to = (i + 1) % RANKS,
                              .window = config.network.tcp_window,
                              .events = network_events(crew_network(crew)),
                              .fabric = network_fabric(crew_network(crew)), .delivered = refill};

        flows[i] = flow_new(&flow);
        flow_send(flows[i], MEGABYTE, NULL);
        flow_send(flows[i], MEGABYTE, NULL);
    }
}

/* Of a link: what operations have got, and the slowest stream. */
typedef struct {
    double own, least;
} shares_t;

/* On the network of config. */
static shares_t measure_streams(const operation_t *operation, const sharing_t *sharing)
{
    flow_t *flows[RANKS];
    shares_t shares = {.least = 1};
    uint64_t begin;
    double link;

    config.network.port_queue = sharing->port;
    begin_crew(RANKS);
    expect_probed();
    if (sharing->alone_first) {
        (void) crew_add(crew, operation);
        assert_true(crew_finish(crew, 60 * OC_SECOND));
    }
    begin_streams(flows, sharing->streams);
    begin = now();
    for (unsigned i = 0; i < sharing->operations; i++) {
        (void) crew_add(crew, operation);
    }
    assert_true(crew_finish(crew, 60 * OC_SECOND));
    link = (double) (now() - begin) * 1e-9 * (double) config.network.rate;
    shares.own = sharing->bytes * sharing->operations / link;
    assert_true(crew_succeeded(crew));
    crew_free(crew);
    crew = NULL;
    for (unsigned i = 0; i < sharing->streams; i++) {
        double share = (double) flow_received(flows[i]) / link;

        shares.least = share < shares.least ? share : shares.least;
        flow_free(flows[i]);
    }
    return shares;
}

static void play_streams(const operation_t *operation, const sharing_t *sharing)
{
    shares_t shares = measure_streams(operation, sharing);

    assert_true(shares.own >= sharing->share);
    assert_true(shares.least >= sharing->share);
}

static void play_beside_tcp(const operation_t *operation, const sharing_t *sharing)
{
    network_real(&config.network, RANKS);
    play_streams(operation, sharing);
}

static void test_tcp_has_its_share(void **state)
{
    const operation_t allgather = {.block = 3 * MEGABYTE, .blocking = true};

    (void) state;
    for (unsigned streams = 1; streams <= RANKS; streams += RANKS - 1) {
        play_beside_tcp(&allgather, &(sharing_t) {.port = MEGABYTE, .streams = streams,
                                                  .operations = 1, .bytes = 21.0 * MEGABYTE,
                                                  .share = 0.40});
    }
}

/* What one rank sends to all. */
static operation_t a_bcast(size_t length)
{
    static size_t lengths[RANKS];

    lengths[0] = length;
    return (operation_t) {.lengths = lengths, .blocking = true};
}

static void test_tcp_has_its_share_beside_a_bcast(void **state)
{
    const operation_t bcast = a_bcast(24 * MEGABYTE);

    (void) state;
    play_beside_tcp(&bcast, &(sharing_t) {.port = MEGABYTE, .streams = RANKS, .operations = 1,
                                          .bytes = 24.0 * MEGABYTE, .share = 0.405});
}

/*
 * On a slow link a kernel keeps less of a stream under way, and nothing is lost: the window is no more than
 * goes through the link in a while, also if all that was ever seen was beside streams.
 */
static void test_tcp_has_its_share_of_slow_links(void **state)
{
    const operation_t operations[] = {{.block = 2 * MEGABYTE, .blocking = true}, a_bcast(14 * MEGABYTE)};

    (void) state;
    for (unsigned i = 0; i < 4; i++) {
        network_real(&config.network, RANKS);
        config.network.rate = 25000000;
        config.network.tcp_window = 128 << 10;
        play_streams(&operations[i / 2], &(sharing_t) {.port = 4 * MEGABYTE, .streams = RANKS,
                                                       .operations = 3, .bytes = 14.0 * MEGABYTE,
                                                       .share = 0.33, .alone_first = i % 2 > 0});
    }
}

/*
 * Beside connections of the process itself it may be farther ahead, by what these keep in the queue of the host; with
 * others' there is no reason to be.
 */
static void test_own_connections_leave_room(void **state)
{
    const operation_t operation = {.block = 2 * MEGABYTE, .blocking = true};
    const sharing_t sharing = {.port = 4 * MEGABYTE, .streams = RANKS, .operations = 3,
                               .bytes = 14.0 * MEGABYTE, .alone_first = true};
    double without, with;

    (void) state;
    network_real(&config.network, RANKS);
    config.network.rate = 25000000;
    config.network.tcp_window = 256 << 10;
    config.queued = 64 << 10;
    without = measure_streams(&operation, &sharing).own;
    config.connections = 8;
    with = measure_streams(&operation, &sharing).own;
    assert_true(with > 1.3 * without);
    /* datagrams that share no queue with them have no need */
    config.queued = 0;
    assert_true(measure_streams(&operation, &sharing).own == without);
}

static bool never(void *arg)
{
    (void) arg;
    return false;
}

static void pass(uint64_t time)
{
    (void) network_run(crew_network(crew), now() + time, never, NULL);
}

/*
 * Others wait for what begins, for as long as they would make it wait, once that is known; and no longer than it takes
 * for all ranks to come.
 */
static void test_beginnings_are_awaited(void **state)
{
    const operation_t operation = {.block = 2 * MEGABYTE, .blocking = true};
    oc_cast_group_t *group;
    uint64_t until;

    (void) state;
    config.network.rate = SLOW_LINK;
    config.queued = 64 << 10;
    begin_crew(RANKS);
    expect_probed();
    group = crew_group(crew, 3);
    assert_int_equal(oc_cast_is_awaited_until(group, now()), 0);
    (void) crew_add(crew, &operation);
    expect_success(60 * OC_SECOND);
    assert_int_equal(oc_cast_is_awaited_until(group, now()), 0);
    /* the next one, of which one rank comes late; 7 connections of 64 KiB take 18 ms, and headers */
    crew_pause(crew, 5, now(), 200 * OC_MILLISECOND);
    (void) crew_add(crew, &operation);
    pass(OC_MILLISECOND);
    until = oc_cast_is_awaited_until(group, now());
    assert_in_range(until - now(), 15 * OC_MILLISECOND, 22 * OC_MILLISECOND);
    pass(100 * OC_MILLISECOND);
    assert_true(oc_cast_is_awaited_until(group, now()) == until);
    pass(150 * OC_MILLISECOND);
    assert_int_equal(oc_cast_is_awaited_until(group, now()), 0);
    expect_success(60 * OC_SECOND);
}

/* Ports keep less than the windows of both: what is lost makes them smaller. */
static void test_small_ports_are_shared(void **state)
{
    const operation_t allgather = {.block = 3 * MEGABYTE, .blocking = true};
    const operation_t bcast = a_bcast(24 * MEGABYTE);
    sharing_t sharing = {.port = MEGABYTE / 4, .operations = 3, .share = 0.28};

    (void) state;
    config.unchecked = true;
    sharing.bytes = 21.0 * MEGABYTE;
    for (sharing.streams = 1; sharing.streams <= RANKS; sharing.streams += RANKS - 1) {
        play_beside_tcp(&allgather, &sharing);
    }
    sharing.bytes = 24.0 * MEGABYTE;
    sharing.streams = RANKS;
    play_beside_tcp(&bcast, &sharing);
}

/* Operations that are over before anybody looks for losses make windows large again, too. */
static void test_short_operations_recover(void **state)
{
    (void) state;
    begin_crew(RANKS);
    expect_probed();
    for (unsigned i = 0; i < RANKS; i++) {
        crew_group(crew, i)->backoff = 0.25;
    }
    for (unsigned i = 0; i < 400; i++) {
        (void) crew_add(crew, &(operation_t) {.block = 40000, .blocking = true});
    }
    expect_success(60 * OC_SECOND);
    for (unsigned i = 0; i < RANKS; i++) {
        assert_true(1 == crew_group(crew, i)->backoff);
    }
    expect_nothing_lost();
}

/* Each rank receives seven blocks over its link, which is what takes the time. */
static void expect_time(double factor)
{
    double best = 7.0 * MEGABYTE / (double) config.network.rate;

    assert_true(seconds() < factor * best);
    assert_true(seconds() > best);
}

static void test_links_are_full(void **state)
{
    (void) state;
    config.network.rate = SLOW_LINK;
    for (unsigned s = 0; s < 2; s++) {
        config.chains = schedules[s];
        play(&(operation_t) {.block = MEGABYTE, .blocking = true});
        expect_time(1.05);
    }
}

static void test_chains_are_no_slower(void **state)
{
    (void) state;
    config.network.rate = SLOW_LINK;
    config.chains = 1;
    play(&(operation_t) {.block = MEGABYTE, .blocking = true});
    /* in turn, each block crosses one link while the last one crosses another */
    assert_true(seconds() < 1.06 * 8.0 * MEGABYTE / (double) SLOW_LINK);
}

/* What is lost costs what it costs to send it again, and little waiting. */
static void test_losses_cost_little(void **state)
{
    (void) state;
    config.network.rate = SLOW_LINK;
    config.network.faults.drop = 0.01;
    play(&(operation_t) {.block = 2 * MEGABYTE, .blocking = true});
    assert_true(seconds() < 1.1 * 7 * 2 * MEGABYTE / (double) SLOW_LINK);
}

static void test_many_small_operations(void **state)
{
    unsigned long long messages;

    (void) state;
    begin_crew(RANKS);
    expect_probed();
    messages = crew_totals(crew).control_messages;
    for (unsigned i = 0; i < 200; i++) {
        (void) crew_add(crew, &(operation_t) {.block = 100, .blocking = true});
    }
    expect_success(10 * OC_SECOND);
    /* ENTER, GO, DONE and LEAVE along seven edges */
    assert_int_equal(crew_totals(crew).control_messages - messages, 200 * 4 * 7);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up_crew, tear_down_crew)
    const struct CMUnitTest tests[] = {
        TEST(test_each_fragment_is_sent_once),
        TEST(test_control_is_little),
        TEST(test_pieces_are_not_taken_for_losses),
        TEST(test_queues_hold_the_window),
        TEST(test_queues_hold_small_windows),
        TEST(test_queues_hold_unequal_blocks),
        TEST(test_queues_hold_some_chains),
        TEST(test_staging_holds),
        TEST(test_credit_is_told_in_time),
        TEST(test_small_shares_keep_in_step),
        TEST(test_turns_cost_little),
        TEST(test_credit_is_told_in_the_end),
        TEST(test_queues_hold_when_receivers_sleep),
        TEST(test_tcp_has_its_share),
        TEST(test_tcp_has_its_share_beside_a_bcast),
        TEST(test_tcp_has_its_share_of_slow_links),
        TEST(test_own_connections_leave_room),
        TEST(test_beginnings_are_awaited),
        TEST(test_small_ports_are_shared),
        TEST(test_short_operations_recover),
        TEST(test_links_are_full),
        TEST(test_chains_are_no_slower),
        TEST(test_losses_cost_little),
        TEST(test_many_small_operations),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
