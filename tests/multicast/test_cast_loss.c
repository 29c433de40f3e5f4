/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Owns the tests of networks that lose, double, reorder, delay and change datagrams: the results
 * are right in any case, and the counters tell what happened.
 */
/* Test: quick 120 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "tests/multicast/crew.h"

#define PAYLOAD  (1472 - OC_DATAGRAM_HEADER)
#define ANY      UINT32_MAX
#define CAPTURES 4096

/* What happens to datagrams, and to requests. */
typedef struct {
    uint32_t from, generation;         /* of the fragments that are concerned; ANY */
    uint32_t first, count;             /* their indices */
    unsigned receivers;                /* a bit for each that is concerned */
    bool flip;                         /* a bit of the payload changes; else they are lost … */
    bool on_the_way;                   /* … in the network, and not in the sender's memory */
    unsigned flip_at;                  /* byte of the payload */
    unsigned times;                    /* how often it happens at most */
    unsigned deaf;                     /* a bit for each rank that gets no REQUEST */
    unsigned struck;                   /* datagrams it has happened to */
    unsigned requests, swallowed;      /* swallowed: of these */
    bool capture;                      /* what rank 0 gets is kept */
    unsigned captured;
    struct {
        uint8_t bytes[1472];
        size_t length;
    } captures[CAPTURES];
} plot_t;

static crew_config_t config;
static plot_t plot;

/* Chains. */
static const uint32_t schedules[] = {TOGETHER, 1, 2};

#define NUM_SCHEDULES (sizeof(schedules) / sizeof(schedules[0]))

static bool is_concerned(unsigned to, const oc_datagram_t *header)
{
    return OC_DATAGRAM_FRAGMENT == header->kind && (plot.receivers >> to & 1)
           && (ANY == plot.from || header->rank == plot.from)
           && (ANY == plot.generation || header->generation == plot.generation)
           && header->index >= plot.first && header->index - plot.first < plot.count;
}

static void capture(const uint8_t *bytes, size_t length)
{
    assert_true(plot.captured < CAPTURES);
    memcpy(plot.captures[plot.captured].bytes, bytes, length);
    plot.captures[plot.captured++].length = length;
}

static bool meddle_with_datagram(void *arg, unsigned from, unsigned to, uint8_t *bytes,
                                 size_t length)
{
    oc_datagram_t header;

    (void) arg;
    (void) from;
    assert_true(oc_datagram_decode(bytes, length, &header));
    if (is_concerned(to, &header) && plot.struck < plot.times) {
        plot.struck++;
        if (!plot.flip) {
            return false;
        }
        bytes[OC_DATAGRAM_HEADER + plot.flip_at] ^= 0x10;
        if (!plot.on_the_way) {
            crew_seal_again(bytes, length);
        }
    }
    if (plot.capture && 0 == to && OC_DATAGRAM_FRAGMENT == header.kind) {
        capture(bytes, length);
    }
    return true;
}

static bool meddle_with_message(void *arg, unsigned from, unsigned to, uint8_t *bytes,
                                size_t length)
{
    oc_cast_message_t message;

    (void) arg;
    (void) from;
    assert_true(oc_cast_decode(bytes, length, &message));
    plot.requests += OC_CAST_REQUEST == message.kind;
    if (OC_CAST_REQUEST == message.kind && (plot.deaf >> to & 1)) {
        plot.swallowed++;
        return false;
    }
    return true;
}

static int set_up(void **state)
{
    (void) state;
    crew_defaults(&config, 4);
    config.network.meddler = (meddler_t) {.datagram = meddle_with_datagram,
                                          .message = meddle_with_message};
    memset(&plot, 0, offsetof(plot_t, captures));
    plot.from = plot.generation = ANY;
    plot.times = UINT32_MAX;
    return 0;
}

static crew_t *new_crew(unsigned ranks, unsigned schedule)
{
    config.network.num_nodes = ranks;
    config.chains = schedules[schedule];
    return crew_new(&config);
}

static oc_cast_counters_t expect_success(crew_t *crew)
{
    oc_cast_counters_t totals;

    assert_string_equal(crew_run(crew, 60 * OC_SECOND), "");
    totals = crew_totals(crew);
    crew_free(crew);
    return totals;
}

/* ---- random faults ---- */

static void add_some(crew_t *crew)
{
    static const size_t unequal[7] = {0, 40000, 3, 200000, 0, 1440, 90001};

    (void) crew_add(crew, &(operation_t) {.block = 100});
    (void) crew_add(crew, &(operation_t) {.block = 300000, .blocking = true});
    (void) crew_add(crew, &(operation_t) {.block = 30001, .in_place = true});
    (void) crew_add(crew, &(operation_t) {.lengths = unequal, .queued = true});
    (void) crew_add(crew, &(operation_t) {.lengths = unequal, .blocking = true, .gap = 3});
}

/* Returns the counters of all schedules together. */
static oc_cast_counters_t play_with(oc_faults_t faults)
{
    oc_cast_counters_t sum = {0};

    for (unsigned s = 0; s < NUM_SCHEDULES; s++) {
        for (unsigned ranks = 2; ranks <= 7; ranks += 5) {
            oc_cast_counters_t totals;
            crew_t *crew;

            faults.seed = s;
            config.network.faults = faults;
            crew = new_crew(ranks, s);
            add_some(crew);
            totals = expect_success(crew);
            assert_int_equal(totals.blocks_corrupted, 0);
            sum.fragments_lost += totals.fragments_lost;
            sum.fragments_recovered += totals.fragments_recovered;
            sum.fragments_received += totals.fragments_received;
            sum.fragments_duplicated += totals.fragments_duplicated;
            sum.fragments_late += totals.fragments_late;
        }
    }
    return sum;
}

static void expect_share(unsigned long long part, unsigned long long all, double low, double high)
{
    assert_true((double) part >= low * (double) all);
    assert_true((double) part <= high * (double) all);
}

static void expect_losses(oc_faults_t faults, double share)
{
    oc_cast_counters_t sum = play_with(faults);

    expect_share(sum.fragments_recovered, sum.fragments_received + sum.fragments_recovered,
                 0.7 * share, 1.3 * share);
    expect_share(sum.fragments_recovered, sum.fragments_lost, 0.95, 1);
}

static void test_one_percent_lost(void **state)
{
    (void) state;
    expect_losses((oc_faults_t) {.drop = 0.01}, 0.01);
}

static void test_five_percent_lost(void **state)
{
    (void) state;
    expect_losses((oc_faults_t) {.drop = 0.05}, 0.05);
}

static void test_thirty_percent_lost(void **state)
{
    (void) state;
    expect_losses((oc_faults_t) {.drop = 0.3}, 0.3);
}

static void test_lost_for_all_receivers(void **state)
{
    (void) state;
    expect_losses((oc_faults_t) {.drop_sent = 0.1}, 0.1);
}

static void test_bursts(void **state)
{
    oc_cast_counters_t sum = play_with((oc_faults_t) {.drop = 0.1, .burst = 20});

    (void) state;
    assert_true(sum.fragments_recovered > 500);
}

static void test_reordering_is_no_loss(void **state)
{
    oc_cast_counters_t sum = play_with((oc_faults_t) {.reorder = 0.1});

    (void) state;
    assert_int_equal(sum.fragments_lost, 0);
    assert_int_equal(sum.fragments_duplicated, 0);
}

static void test_duplicates_are_counted(void **state)
{
    oc_cast_counters_t sum = play_with((oc_faults_t) {.duplicate = 0.1});

    (void) state;
    assert_int_equal(sum.fragments_lost, 0);
    expect_share(sum.fragments_duplicated + sum.fragments_late, sum.fragments_received, 0.08,
                 0.12);
}

static void test_everything_at_once(void **state)
{
    (void) state;
    (void) play_with((oc_faults_t) {.drop = 0.05, .drop_sent = 0.02, .duplicate = 0.1,
                                    .reorder = 0.1, .delay = 0.05, .delay_ms = 40});
}

/* ---- losses in certain places ---- */

/* A block of rank 1, and smaller ones of the others. */
static crew_t *new_crew_with_block(unsigned ranks, unsigned schedule, size_t length)
{
    size_t lengths[SCRIPTED_RANKS];
    crew_t *crew = new_crew(ranks, schedule);

    for (unsigned i = 0; i < ranks; i++) {
        lengths[i] = 1 == i ? length : 10000;
    }
    (void) crew_add(crew, &(operation_t) {.lengths = lengths, .blocking = true});
    return crew;
}

static void expect_recovered(size_t length, unsigned ranks)
{
    for (unsigned s = 0; s < NUM_SCHEDULES; s++) {
        oc_cast_counters_t totals;

        plot.struck = 0;
        totals = expect_success(new_crew_with_block(ranks, s, length));
        assert_true(plot.struck > 0);
        assert_int_equal(totals.fragments_lost, plot.struck);
        assert_int_equal(totals.fragments_recovered, plot.struck);
        assert_int_equal(totals.blocks_corrupted, 0);
    }
}

static void test_burst_of_hundred(void **state)
{
    (void) state;
    plot.from = 1;
    plot.first = 30;
    plot.count = 100;
    plot.receivers = 1 << 2;
    expect_recovered(300000, 4);
}

static void test_all_of_a_rank_lost_at_one(void **state)
{
    (void) state;
    plot.from = 1;
    plot.count = ANY;
    plot.receivers = 1 << 3;
    expect_recovered(300000, 4);
}

static void test_all_of_a_rank_lost_at_all(void **state)
{
    (void) state;
    plot.from = 1;
    plot.count = ANY;
    plot.receivers = ~0u;
    expect_recovered(300000, 4);
}

static void test_everything_lost(void **state)
{
    (void) state;
    plot.count = ANY;
    plot.receivers = ~0u;
    expect_recovered(100000, 4);
}

static void test_only_fragment_lost(void **state)
{
    (void) state;
    plot.from = 1;
    plot.count = 1;
    plot.receivers = ~0u;
    expect_recovered(1, 3);
    expect_recovered(PAYLOAD - 4, 3);
}

/* A short fragment that is there must not cut what is fetched to its length. */
static void test_middle_lost_and_short_end_present(void **state)
{
    (void) state;
    plot.from = 1;
    plot.receivers = 1 << 0;
    for (plot.first = 0; plot.first < 4; plot.first++) {
        plot.count = 1;
        expect_recovered(4 * PAYLOAD + 3, 3);
        plot.count = 4 - plot.first;
        expect_recovered(4 * PAYLOAD + 3, 3);
    }
}

/* The end is noticed by nothing that comes later. */
static void test_end_lost(void **state)
{
    (void) state;
    plot.from = 1;
    plot.receivers = 1 << 0 | 1 << 2;
    plot.first = 20;
    plot.count = ANY;
    expect_recovered(30 * PAYLOAD + 3, 4);
}

/* The first that is asked does not have it, either. */
static void test_other_rank_on_the_host_lacks_it_too(void **state)
{
    static const uint32_t hosts[] = {0, 1, 0, 2};

    (void) state;
    config.hosts = hosts;
    plot.from = 1;
    plot.first = 5;
    plot.count = 7;
    plot.receivers = 1 << 0 | 1 << 2;
    expect_recovered(100000, 4);
}

static void test_nobody_but_the_owner_has_it(void **state)
{
    static const uint32_t hosts[] = {0, 0, 0, 0};

    (void) state;
    config.hosts = hosts;
    plot.from = 3;
    plot.count = 3;
    plot.receivers = ~0u;
    expect_recovered(100000, 4);
}

/* It is asked soon, not after everybody else. */
static void test_the_owner_is_found_soon(void **state)
{
    (void) state;
    plot.from = 1;
    plot.first = 3;
    plot.count = 1;
    plot.receivers = ~0u;
    (void) expect_success(new_crew_with_block(16, 0, 100000));
    assert_int_equal(plot.struck, 15);
    assert_in_range(plot.requests, 15, 2 * 15);
}

/* Between hosts nothing is asked for that a rank on the host has. */
static void test_neighbours_are_asked_first(void **state)
{
    static const uint32_t hosts[] = {0, 0, 1, 1};
    crew_t *crew;

    (void) state;
    config.hosts = hosts;
    plot.from = 3;
    plot.count = 50;
    plot.receivers = 1 << 0;
    crew = new_crew(4, 0);
    (void) crew_add(crew, &(operation_t) {.block = 200000});
    assert_string_equal(crew_run(crew, 10 * OC_SECOND), "");
    assert_int_equal(crew_counters(crew, 0)->fragments_recovered, 50);
    assert_int_equal(crew_counters(crew, 1)->repair_bytes, 50 * PAYLOAD);
    assert_int_equal(crew_totals(crew).repair_bytes, 50 * PAYLOAD);
    crew_free(crew);
}

/* ---- sources that do not answer ---- */

static void test_only_the_owner_answers(void **state)
{
    (void) state;
    plot.from = 1;
    plot.count = 100;
    plot.receivers = 1 << 4; /* which asks rank 3 first */
    plot.deaf = ~(1u << 1);
    (void) expect_success(new_crew_with_block(5, 0, 300000));
    assert_true(plot.swallowed > 0);
}

static void test_the_owner_does_not_answer(void **state)
{
    (void) state;
    plot.from = 1;
    plot.count = 100;
    plot.receivers = 1 << 0;
    plot.deaf = 1u << 1;
    (void) expect_success(new_crew_with_block(5, 0, 300000));
}

/* ---- late datagrams ---- */

static void replay_captures(crew_t *crew, unsigned to, uint32_t add_to_generation)
{
    for (unsigned i = 0; i < plot.captured; i++) {
        oc_datagram_t header;
        uint8_t bytes[1472];

        memcpy(bytes, plot.captures[i].bytes, plot.captures[i].length);
        assert_true(oc_datagram_decode(bytes, plot.captures[i].length, &header));
        header.generation += add_to_generation;
        oc_datagram_encode(&header, bytes);
        crew_seal_again(bytes, plot.captures[i].length);
        network_forge_datagram(crew_network(crew), 1, to, bytes, plot.captures[i].length,
                               network_now(crew_network(crew)) + i * 2000);
    }
}

static void expect_play(crew_t *crew)
{
    assert_true(crew_play(crew, 60 * OC_SECOND));
    assert_true(crew_succeeded(crew));
}

/* Plays one operation, and replays what rank 0 got in it while others run. */
static void play_late(unsigned later)
{
    crew_t *crew = new_crew(3, 0);
    unsigned long long late;

    plot.capture = true;
    (void) crew_add(crew, &(operation_t) {.block = 50000});
    assert_string_equal(crew_run(crew, 10 * OC_SECOND), "");
    plot.capture = false;
    assert_int_equal(plot.captured, 2 * crew_fragments(crew, 50000));
    for (unsigned i = 1; i < later; i++) {
        (void) crew_add(crew, &(operation_t) {.block = 100, .queued = true});
    }
    expect_play(crew);
    late = crew_totals(crew).fragments_late;
    replay_captures(crew, 0, 0);
    replay_captures(crew, 1, 0);
    (void) crew_add(crew, &(operation_t) {.block = 50000});
    expect_play(crew);
    assert_int_equal(crew_totals(crew).blocks_corrupted, 0);
    /* those that rank 1 sent itself are nothing to it */
    assert_int_equal(crew_totals(crew).fragments_late, late + 3 * crew_fragments(crew, 50000));
    crew_free(crew);
}

static void test_datagrams_of_the_last_operation(void **state)
{
    (void) state;
    play_late(1);
}

static void test_datagrams_of_the_300th_last_operation(void **state)
{
    (void) state;
    play_late(300);
}

static void test_generations_that_differ_in_high_bits(void **state)
{
    static const uint32_t others[] = {1u << 8, 1u << 10, 1u << 16, 1u << 24, 1u << 31, ~0u};
    crew_t *crew = new_crew(3, 0);
    unsigned count;

    (void) state;
    plot.capture = true;
    (void) crew_add(crew, &(operation_t) {.block = 50000});
    assert_string_equal(crew_run(crew, 10 * OC_SECOND), "");
    plot.capture = false;
    count = 2 * crew_fragments(crew, 50000);
    /* of the generation that is about to come, but for some bits */
    for (unsigned i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
        replay_captures(crew, 0, 1 + others[i]);
    }
    (void) crew_add(crew, &(operation_t) {.block = 50000});
    expect_play(crew);
    assert_int_equal(crew_totals(crew).blocks_corrupted, 0);
    assert_int_equal(crew_counters(crew, 0)->fragments_duplicated, 0);
    assert_int_equal(crew_counters(crew, 0)->fragments_received, 2 * count);
    crew_free(crew);
}

/* All that a rank gets arrives a second time, and much later a third time. */
static void test_replays(void **state)
{
    crew_t *crew = new_crew(3, 0);

    (void) state;
    plot.capture = true;
    (void) crew_add(crew, &(operation_t) {.block = 50000});
    assert_string_equal(crew_run(crew, 10 * OC_SECOND), "");
    replay_captures(crew, 0, 0);
    replay_captures(crew, 1, 0);
    replay_captures(crew, 2, 0);
    expect_play(crew);
    assert_int_equal(crew_totals(crew).fragments_late,
                     (2 + 1 + 1) * crew_fragments(crew, 50000));
    crew_free(crew);
}

static void test_own_datagrams_come_back(void **state)
{
    crew_t *crew;

    (void) state;
    config.network.loopback = true;
    crew = new_crew(4, 0);
    add_some(crew);
    assert_string_equal(crew_run(crew, 10 * OC_SECOND), "");
    assert_int_equal(crew_totals(crew).fragments_duplicated, 0);
    assert_int_equal(crew_totals(crew).fragments_foreign, 0);
    crew_free(crew);
}

/* ---- changed bytes ---- */

static void expect_corrupted(unsigned blocks)
{
    for (unsigned s = 0; s < NUM_SCHEDULES; s++) {
        oc_cast_counters_t totals;

        plot.struck = 0;
        totals = expect_success(new_crew_with_block(4, s, 30000));
        assert_int_equal(totals.blocks_corrupted, blocks);
    }
}

static void test_changed_data_is_fetched_again(void **state)
{
    (void) state;
    plot.flip = true;
    plot.from = 1;
    plot.receivers = 1 << 2;
    plot.first = 7;
    plot.count = 1;
    plot.flip_at = 33;
    expect_corrupted(1);
}

static void test_changed_checksum_is_fetched_again(void **state)
{
    (void) state;
    plot.flip = true;
    plot.from = 1;
    plot.receivers = 1 << 2;
    plot.first = 30000 / PAYLOAD;
    plot.count = 1;
    plot.flip_at = 30000 % PAYLOAD + 2;
    expect_corrupted(1);
}

/* It is as good as lost: that fragment alone is asked for. */
static void test_data_changed_on_the_way(void **state)
{
    oc_cast_counters_t totals;

    (void) state;
    plot.flip = plot.on_the_way = true;
    plot.from = 1;
    plot.receivers = 1 << 2;
    plot.first = 7;
    plot.count = 1;
    totals = expect_success(new_crew_with_block(4, 0, 30000));
    assert_int_equal(totals.datagrams_forged, 1);
    assert_int_equal(totals.blocks_corrupted, 0);
    assert_int_equal(totals.fragments_lost, 1);
    assert_int_equal(totals.repair_bytes, PAYLOAD);
}

/* Only the owner can help. */
static void test_data_changed_for_all(void **state)
{
    static const uint32_t hosts[] = {0, 1, 0, 0};

    (void) state;
    config.hosts = hosts;
    plot.flip = true;
    plot.from = 1;
    plot.receivers = ~0u;
    plot.count = 3;
    expect_corrupted(3);
}

/* A rank that has lost something gets it from one whose block is wrong. */
static void test_changed_data_is_passed_on(void **state)
{
    static const uint32_t hosts[] = {0, 1, 0, 2};
    oc_cast_counters_t totals;

    (void) state;
    config.hosts = hosts;
    config.network.faults = (oc_faults_t) {.drop = 0.2, .seed = 3};
    plot.flip = true;
    plot.from = 1;
    plot.receivers = 1 << 0;
    plot.count = 20;
    totals = expect_success(new_crew_with_block(4, 0, 300000));
    assert_in_range(totals.blocks_corrupted, 1, 3);
}

static bool is_corrupted(void *arg)
{
    return crew_totals(arg).blocks_corrupted > 0;
}

/* After a wrong checksum nothing counts but what the owner answers. */
static void test_changed_data_keeps_coming(void **state)
{
    crew_t *crew;

    (void) state;
    plot.flip = plot.capture = true;
    plot.from = 1;
    plot.receivers = 1 << 0;
    plot.count = ANY;
    config.network.message_min = 5 * OC_MILLISECOND;
    config.network.message_max = 6 * OC_MILLISECOND;
    crew = new_crew(3, 0);
    assert_true(crew_probe(crew, OC_SECOND));
    (void) crew_add(crew, &(operation_t) {.block = 30000});
    assert_true(network_run(crew_network(crew), 10 * OC_SECOND, is_corrupted, crew));
    plot.capture = false;
    for (unsigned i = 0; i < 5; i++) {
        replay_captures(crew, 0, 0);
    }
    expect_play(crew);
    assert_int_equal(crew_totals(crew).blocks_corrupted, 1);
    crew_free(crew);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup(name, set_up)
    const struct CMUnitTest tests[] = {
        TEST(test_one_percent_lost),
        TEST(test_five_percent_lost),
        TEST(test_thirty_percent_lost),
        TEST(test_lost_for_all_receivers),
        TEST(test_bursts),
        TEST(test_reordering_is_no_loss),
        TEST(test_duplicates_are_counted),
        TEST(test_everything_at_once),
        TEST(test_burst_of_hundred),
        TEST(test_all_of_a_rank_lost_at_one),
        TEST(test_all_of_a_rank_lost_at_all),
        TEST(test_everything_lost),
        TEST(test_only_fragment_lost),
        TEST(test_middle_lost_and_short_end_present),
        TEST(test_end_lost),
        TEST(test_other_rank_on_the_host_lacks_it_too),
        TEST(test_nobody_but_the_owner_has_it),
        TEST(test_the_owner_is_found_soon),
        TEST(test_neighbours_are_asked_first),
        TEST(test_only_the_owner_answers),
        TEST(test_the_owner_does_not_answer),
        TEST(test_datagrams_of_the_last_operation),
        TEST(test_datagrams_of_the_300th_last_operation),
        TEST(test_generations_that_differ_in_high_bits),
        TEST(test_replays),
        TEST(test_own_datagrams_come_back),
        TEST(test_changed_data_is_fetched_again),
        TEST(test_changed_checksum_is_fetched_again),
        TEST(test_data_changed_on_the_way),
        TEST(test_data_changed_for_all),
        TEST(test_changed_data_is_passed_on),
        TEST(test_changed_data_keeps_coming),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
