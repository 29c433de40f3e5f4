/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Owns the tests of hosts with several ranks: what a host has missed crosses its link once more,
 * and no more often.
 */
/* Test: quick 120; sanitizers: all 240 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "tests/multicast/fixture.h"

#define RANKS     16
#define HOSTS     4
#define MAX_INDEX 16384

/* Fragments of a block at a host. */
typedef struct {
    bool lost[HOSTS][RANKS][MAX_INDEX];          /* at all ranks of the host */
    unsigned fetched[HOSTS][RANKS][MAX_INDEX];   /* how often a repair of it came from elsewhere */
    unsigned repairs_to[RANKS];                  /* fragments that came from other hosts, ... */
    unsigned recasts_to[RANKS];                  /* ...and by multicast again */
    uint64_t last_repair_to[RANKS];              /* in either way */
} ledger_t;

static ledger_t *ledger;
static uint32_t hosts[RANKS];
static unsigned lost_of_100;          /* fragments at a host */

/* Of a fragment at a host; the same for all ranks there. */
static unsigned dice(unsigned host, const oc_datagram_t *header)
{
    uint64_t x = ((uint64_t) header->rank << 40 | (uint64_t) header->index << 8 | host) + 1;

    x *= 0x9e3779b97f4a7c15ull;
    x ^= x >> 29;
    x *= 0xbf58476d1ce4e5b9ull;
    return (unsigned) ((x >> 33) % 100);
}

static bool is_first_of_host(unsigned rank)
{
    unsigned first = 0;

    while (hosts[first] != hosts[rank]) {
        first++;
    }
    return first == rank;
}

/* It comes to each rank of a host, and has crossed its link once. */
static void note_recast(unsigned from, unsigned to, const oc_datagram_t *header)
{
    if (hosts[from] == hosts[to] || !ledger->lost[hosts[to]][header->rank][header->index]) {
        return;
    }
    ledger->recasts_to[to]++;
    ledger->last_repair_to[to] = now();
    if (is_first_of_host(to)) {
        ledger->fetched[hosts[to]][header->rank][header->index]++;
    }
}

static bool lose_at_hosts(void *arg, unsigned from, unsigned to, uint8_t *bytes, size_t length)
{
    oc_datagram_t header;

    (void) arg;
    assert_true(oc_datagram_decode(bytes, length, &header));
    if (OC_DATAGRAM_REPAIR == header.kind) {
        note_recast(from, to, &header);
    }
    if (OC_DATAGRAM_FRAGMENT != header.kind || hosts[from] == hosts[to]
        || dice(hosts[to], &header) >= lost_of_100) {
        return true;
    }
    assert_true(header.index < MAX_INDEX);
    ledger->lost[hosts[to]][header.rank][header.index] = true;
    return false;
}

static bool watch_repairs(void *arg, unsigned from, unsigned to, uint8_t *bytes, size_t length)
{
    oc_cast_message_t message;

    (void) arg;
    assert_true(oc_cast_decode(bytes, length, &message));
    if (OC_CAST_REPAIR != message.kind || hosts[from] == hosts[to]) {
        return true;
    }
    for (uint32_t i = 0; i < message.num_ranges; i++) {
        for (uint32_t k = 0; k < message.ranges[i].count; k++) {
            ledger->fetched[hosts[to]][message.block][message.ranges[i].first + k]++;
            ledger->repairs_to[to]++;
            ledger->last_repair_to[to] = now();
        }
    }
    return true;
}

static int set_up(void **state)
{
    (void) set_up_crew(state);
    config.hosts = hosts;
    config.network.meddler = (meddler_t) {.datagram = lose_at_hosts, .message = watch_repairs};
    for (unsigned i = 0; i < RANKS; i++) {
        hosts[i] = i / (RANKS / HOSTS);
    }
    /* what is fetched twice, and by whom, depends on where requests begin and end */
    config.network.datagram_size = OC_DATAGRAM_HEADER + 1448;
    ledger = calloc(1, sizeof(*ledger));
    lost_of_100 = 0;
    return NULL == ledger;
}

static int tear_down(void **state)
{
    free(ledger);
    return tear_down_crew(state);
}

static void play(const operation_t *operation)
{
    memset(ledger, 0, sizeof(*ledger));
    begin_crew(RANKS);
    expect_probed();
    (void) crew_add(crew, operation);
    expect_success(60 * OC_SECOND);
}

typedef struct {
    unsigned lost, fetched, fetched_again;
} sums_t;

static sums_t sum_up(void)
{
    sums_t sums = {0};

    for (unsigned host = 0; host < HOSTS; host++) {
        for (unsigned owner = 0; owner < RANKS; owner++) {
            for (unsigned index = 0; index < MAX_INDEX; index++) {
                unsigned times = ledger->fetched[host][owner][index];

                sums.lost += ledger->lost[host][owner][index];
                sums.fetched += times;
                sums.fetched_again += times > 1;
            }
        }
    }
    return sums;
}

static void expect_fetched_once(void)
{
    sums_t sums = sum_up();

    assert_true(sums.lost > 100);
    /* who was given one alone may get it again with the others, who ask a little later */
    assert_true(sums.fetched_again <= sums.lost / 20);
    assert_int_equal(sums.fetched - sums.fetched_again, sums.lost);
    /* each of a host's ranks that lacked them got them */
    assert_int_equal(crew_totals(crew).fragments_recovered, sums.lost * (RANKS / HOSTS));
}

static void test_what_a_host_missed_is_fetched_once(void **state)
{
    (void) state;
    for (lost_of_100 = 1; lost_of_100 <= 25; lost_of_100 += 8) {
        config.chains = TOGETHER;
        play(&(operation_t) {.block = 500000, .blocking = true});
        expect_fetched_once();
        config.chains = 1;
        play(&(operation_t) {.block = 500000});
        expect_fetched_once();
    }
}

static void test_one_block_is_fetched_once(void **state)
{
    static const size_t lengths[RANKS] = {[5] = 4000000};

    (void) state;
    lost_of_100 = 10;
    play(&(operation_t) {.lengths = lengths, .blocking = true});
    expect_fetched_once();
}

/* All of it: even that there is something to fetch has to be heard of. */
static void test_a_deaf_host_fetches_everything_once(void **state)
{
    (void) state;
    lost_of_100 = 100;
    play(&(operation_t) {.block = 100000, .blocking = true});
    expect_fetched_once();
}

/* Whichever way they are placed. */
static void test_all_ranks_of_a_host_fetch(void **state)
{
    (void) state;
    lost_of_100 = 10;
    for (unsigned by_node = 0; by_node <= 1; by_node++) {
        for (unsigned i = 0; i < RANKS; i++) {
            hosts[i] = by_node ? i % HOSTS : i / (RANKS / HOSTS);
        }
        play(&(operation_t) {.block = 500000, .blocking = true});
        expect_fetched_once();
        for (unsigned i = 0; i < RANKS; i++) {
            /* each is the fetcher of three of twelve blocks */
            assert_in_range(ledger->repairs_to[i], 50, 200);
        }
    }
}

/* What one rank has lost is nearly always on its host. */
static void test_what_is_on_the_host_is_not_fetched(void **state)
{
    sums_t sums;

    (void) state;
    config.network.faults.drop = 0.05;
    play(&(operation_t) {.block = 500000, .blocking = true});
    sums = sum_up();
    assert_true(crew_totals(crew).fragments_recovered > 1000);
    assert_true(sums.fetched < crew_totals(crew).fragments_recovered / 10);
}

/* Plays one block of rank 5's while a rank is elsewhere, from soon after the beginning. */
static uint64_t play_without(unsigned away, size_t block, uint64_t pause)
{
    size_t lengths[RANKS] = {[5] = block};
    uint64_t begin;

    lost_of_100 = 10;
    begin_crew(RANKS);
    expect_probed();
    begin = now();
    crew_pause(crew, away, begin + OC_MILLISECOND, pause);
    (void) crew_add(crew, &(operation_t) {.lengths = lengths});
    expect_success(60 * OC_SECOND);
    return begin;
}

/* A fetcher that waits itself says so, and its companions go on waiting for it. */
static void test_hardly_anything_is_fetched_twice_while_the_owner_computes(void **state)
{
    sums_t sums;

    (void) state;
    /* who does not know the owner yet asks others while that cannot say how it is reached */
    config.acquainted = true;
    (void) play_without(5, 4000000, OC_SECOND);
    sums = sum_up();
    assert_true(sums.lost > 100);
    /* who asked the owner asks somebody else after a while */
    assert_true(sums.fetched_again < sums.lost / 20);
}

/* A rank that computes keeps its companions waiting once, not for every request. */
static void test_companions_of_a_busy_fetcher_help_themselves(void **state)
{
    const unsigned host = 2, fetcher = 9, companion = 10;
    unsigned lost = 0;
    uint64_t begin;

    (void) state;
    config.network.rate = 25000000;
    begin = play_without(fetcher, 16000000, 5 * OC_SECOND);
    for (unsigned index = 0; index < MAX_INDEX; index++) {
        lost += ledger->lost[host][5][index];
    }
    assert_true(lost > 1000);
    assert_in_range(ledger->repairs_to[companion] + ledger->recasts_to[companion], lost,
                    lost + lost / 8);
    assert_true(ledger->last_repair_to[companion] < begin + 2 * OC_SECOND);
    assert_true(crew_outcome(crew, fetcher, 0)->end > begin + 5 * OC_SECOND);
}

/* ---- an owner that does not answer ---- */

static bool lose_at_companion(void *arg, unsigned from, unsigned to, uint8_t *bytes, size_t length)
{
    oc_datagram_t header;

    (void) arg;
    assert_true(oc_datagram_decode(bytes, length, &header));
    return OC_DATAGRAM_FRAGMENT != header.kind || 0 != from || 1 != to
           || dice(hosts[to], &header) >= 20;
}

/* Where ranks send in turn, what is missing on the owner's own host is asked of no other host first. */
static void test_owner_on_the_same_host_is_away(void **state)
{
    (void) state;
    config.chains = 1;
    config.network.meddler = (meddler_t) {.datagram = lose_at_companion};
    begin_crew(RANKS);
    expect_probed();
    (void) crew_add(crew, &(operation_t) {.block = 200000});
    crew_pause(crew, 0, now() + OC_MILLISECOND, OC_SECOND);
    expect_success(60 * OC_SECOND);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(test_what_a_host_missed_is_fetched_once),
        TEST(test_one_block_is_fetched_once),
        TEST(test_a_deaf_host_fetches_everything_once),
        TEST(test_all_ranks_of_a_host_fetch),
        TEST(test_what_is_on_the_host_is_not_fetched),
        TEST(test_hardly_anything_is_fetched_twice_while_the_owner_computes),
        TEST(test_companions_of_a_busy_fetcher_help_themselves),
        TEST(test_owner_on_the_same_host_is_away),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
