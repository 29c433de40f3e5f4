/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Owns the engine's tests of a server with little memory: whatever the ranks do at the same time,
 * everything is served in the end, and what cannot be is refused with a reason.
 */
/* Test: quick 120 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "tests/engine/harness.h"

#define MIB (1u << 20)

/* Most that a data process may have beyond its memory limit, in KiB; sanitizers need more. */
#define PROCESS_KIB (32 * 1024)

static test_server_t server;

/* Written by the ranks, which are processes, and read by the tests. */
typedef struct {
    atomic_ullong resent;
    atomic_ullong offloaded;
    atomic_ullong peak_kib;
} totals_t;

static totals_t *totals;

/* ---- a crowd of groups ---- */

#define CROWD 64

/* What each group does, in this order. */
static const size_t counts[] = {4096, 2, 40000, 250, 4096};

#define NUM_COUNTS (sizeof(counts) / sizeof(counts[0]))

typedef struct {
    float *send, *recv;
    outcome_t outcome;
} operation_t;

static operation_t operations[CROWD][NUM_COUNTS];
static outcome_t outcomes[CROWD * NUM_COUNTS];

static unsigned seed_of(unsigned group, unsigned i)
{
    return 1000 * group + i;
}

/* Each rank has another order of the groups; no two meet before half of the groups are begun. */
static unsigned nth_group(uint32_t rank, unsigned n)
{
    switch (rank % 4) {
    case 0:
        return n;
    case 1:
        return CROWD - 1 - n;
    case 2:
        return (2 * n) % CROWD + (2 * n) / CROWD;
    default:
        return (n * 37 + 11) % CROWD;
    }
}

static void begin_group(rank_t *rank, unsigned group)
{
    for (unsigned i = 0; i < NUM_COUNTS; i++) {
        operation_t *o = &operations[group][i];

        o->send = malloc(counts[i] * sizeof(float));
        o->recv = malloc(counts[i] * sizeof(float));
        fill_contribution(o->send, OC_TYPE_FLOAT, counts[i], rank->rank, seed_of(group, i));
        CHECK(OC_OK == rank_start(rank, group, OC_OP_SUM, OC_TYPE_FLOAT, o->send, o->recv,
                                  counts[i], &outcomes[group * NUM_COUNTS + i]));
    }
}

static void check_group(rank_t *rank, unsigned group)
{
    for (unsigned i = 0; i < NUM_COUNTS; i++) {
        operation_t *o = &operations[group][i];
        float *expected = malloc(counts[i] * sizeof(float));

        CHECK(OC_OK == outcomes[group * NUM_COUNTS + i].status);
        fill_expected(expected, OC_OP_SUM, OC_TYPE_FLOAT, counts[i], rank->num_ranks,
                      seed_of(group, i));
        CHECK(0 == memcmp(expected, o->recv, counts[i] * sizeof(float)));
        free(expected);
        free(o->send);
        free(o->recv);
    }
}

static void add_up(rank_t *rank)
{
    CHECK(0 == rank->counters.failures);
    atomic_fetch_add(&totals->resent, rank->counters.messages_resent);
    atomic_fetch_add(&totals->offloaded, rank->counters.allreduce_offloaded);
    rank_barrier(rank);
    if (0 == rank->rank) {
        atomic_store(&totals->peak_kib, memory_kib_of(server_data_process(&server), "VmHWM"));
    }
}

static void body_crowd(rank_t *rank)
{
    rank_set_up_groups(rank, CROWD);
    for (unsigned n = 0; n < CROWD; n++) {
        begin_group(rank, nth_group(rank->rank, n));
        if (n % 16 == 15) {
            rank_linger(rank, 30);
        }
    }
    CHECK(rank_wait(rank, outcomes, CROWD * NUM_COUNTS, 60));
    for (unsigned group = 0; group < CROWD; group++) {
        check_group(rank, group);
    }
    add_up(rank);
}

/* ---- ranks that are late ---- */

#define LATE_GROUPS 40

/*
 * Rank 3 stays away from 40 groups, whose other ranks have filled all memory with what they sent;
 * that must not keep group 0 from its chunks, nor a last group from its small vectors.
 */
static void body_late(rank_t *rank)
{
    bool late = 3 == rank->rank;
    unsigned last = LATE_GROUPS + 1;

    rank_set_up_groups(rank, LATE_GROUPS + 2);
    for (unsigned group = 1; group <= LATE_GROUPS && !late; group++) {
        begin_group(rank, group);
    }
    rank_linger(rank, 200);
    rank_barrier(rank);
    begin_group(rank, 0);
    begin_group(rank, last);
    CHECK(rank_wait(rank, outcomes, NUM_COUNTS, 20));
    CHECK(rank_wait(rank, &outcomes[last * NUM_COUNTS], NUM_COUNTS, 20));
    CHECK(late || !outcomes[NUM_COUNTS].done);
    rank_barrier(rank);
    for (unsigned group = 1; group <= LATE_GROUPS && late; group++) {
        begin_group(rank, group);
    }
    CHECK(rank_wait(rank, outcomes, (LATE_GROUPS + 2) * NUM_COUNTS, 40));
    for (unsigned group = 0; group < LATE_GROUPS + 2; group++) {
        check_group(rank, group);
    }
    add_up(rank);
}

/* ---- a wide window ---- */

#define WIDE 300000u

static void body_wide(rank_t *rank)
{
    float *send = malloc(WIDE * sizeof(float)), *recv = malloc(WIDE * sizeof(float));
    float *expected = malloc(WIDE * sizeof(float));

    for (unsigned i = 0; i < 3; i++) {
        fill_contribution(send, OC_TYPE_FLOAT, WIDE, rank->rank, i);
        fill_expected(expected, OC_OP_SUM, OC_TYPE_FLOAT, WIDE, rank->num_ranks, i);
        CHECK(OC_OK == rank_allreduce(rank, 0, OC_OP_SUM, OC_TYPE_FLOAT, send, recv, WIDE));
        CHECK(0 == memcmp(expected, recv, WIDE * sizeof(float)));
    }
    free(send);
    free(recv);
    free(expected);
    add_up(rank);
}

/* ---- the tests of what fits ---- */

typedef struct {
    unsigned long long waited, asked, peak, limit;
} shortage_t;

/* What the aggregators say when they end, in sum; how many said it. */
static unsigned read_shortage(shortage_t *sum)
{
    unsigned lines = 0, index;
    char line[1024];

    *sum = (shortage_t) {0};
    while (server_line(&server, line, sizeof(line), 3000)) {
        const char *at = strstr(line, "aggregator ");
        shortage_t one;

        if (NULL == at
            || 5 != sscanf(at, "aggregator %u was short of memory: %llu collectives waited for "
                           "it, %llu contributions were asked for again, at most %llu of %llu",
                           &index, &one.waited, &one.asked, &one.peak, &one.limit)) {
            if (NULL != strstr(line, "is over")) {
                break;
            }
            continue;
        }
        assert_true(one.peak <= one.limit);
        sum->waited += one.waited;
        sum->asked += one.asked;
        sum->peak = one.peak > sum->peak ? one.peak : sum->peak;
        sum->limit += one.limit;
        lines++;
    }
    return lines;
}

static oc_job_settings_t limit_settings(void)
{
    oc_job_settings_t settings = test_settings(server.address);

    settings.small_size = 16384;
    settings.chunk_size = 96 * 1024;
    settings.window = 8;
    settings.heartbeat_timeout = 20;
    settings.connect_timeout = 20;
    return settings;
}

/* Runs body on 4 ranks; memory is short on every aggregator, and stays within its limit. */
static void run_short(const char *aggregators, const char *limit, void (*body)(rank_t *rank),
                      shortage_t *shortage)
{
    const char *options[] = {"--aggregators", aggregators, "--memory-limit", limit, NULL};
    oc_job_settings_t settings;
    unsigned failed, lines;

    memset(totals, 0, sizeof(*totals));
    server_start(&server, options);
    settings = limit_settings();
    failed = ranks_run(4, &settings, body, 100);
    lines = read_shortage(shortage);
    assert_int_equal(server_stop(&server), 0);
    assert_int_equal(failed, 0);
    assert_int_equal(lines, atoi(aggregators));
    print_message("%llu waited, %llu asked for again, at most %llu bytes, VmHWM %llu KiB\n",
                  shortage->waited, shortage->asked, shortage->peak,
                  (unsigned long long) atomic_load(&totals->peak_kib));
    assert_true(shortage->waited > 0);
    assert_int_equal(atomic_load(&totals->resent), shortage->asked);
    assert_true(atomic_load(&totals->peak_kib) > 0);
    if (MEASURES_MEMORY) {
        assert_true(atomic_load(&totals->peak_kib) < PROCESS_KIB + shortage->limit / 1024);
    }
}

static void test_crowd(void **state)
{
    shortage_t shortage;

    (void) state;
    run_short("1", "1M", body_crowd, &shortage);
    assert_true(shortage.asked > 0);
    assert_int_equal(shortage.limit, MIB);
    assert_int_equal(atomic_load(&totals->offloaded), 4 * (CROWD + CROWD * NUM_COUNTS));
}

static void test_crowd_of_aggregators(void **state)
{
    shortage_t shortage;

    (void) state;
    run_short("2", "2M", body_crowd, &shortage);
    assert_true(shortage.asked > 0);
    assert_int_equal(shortage.limit, 2 * MIB);
}

static void test_late_rank(void **state)
{
    shortage_t shortage;

    (void) state;
    run_short("1", "1M", body_late, &shortage);
    assert_true(shortage.asked > 0);
}

/*
 * Over TCP contributions come unasked, into memory that is not of the pool: no more of them than
 * eager_window allows, from all groups together.
 */
static void test_late_rank_tcp(void **state)
{
    shortage_t shortage;

    (void) state;
    setenv("OPTCAST_UCX_TLS", "tcp", 1);
    setenv("OPTCAST_UCX_NET_DEVICES", "lo", 1);
    run_short("1", "1M", body_late, &shortage);
    unsetenv("OPTCAST_UCX_TLS");
    unsetenv("OPTCAST_UCX_NET_DEVICES");
}

/* A window for which there is no room gets smaller: nothing is sent twice for it. */
static void test_window_shrinks(void **state)
{
    shortage_t shortage;

    (void) state;
    run_short("1", "1M", body_wide, &shortage);
    assert_int_equal(shortage.asked, 0);
    assert_int_equal(atomic_load(&totals->offloaded), 4 * 3);
}

/* ---- what does not fit ---- */

static char expected_reason[200];

static void body_too_large(rank_t *rank)
{
    rank_expect_declined(rank, 0, expected_reason);
    rank_barrier(rank);
    CHECK(0 == rank->counters.groups);
}

static void refused(const char *const *options, uint32_t num_ranks, size_t chunk, size_t small,
                    const char *reason)
{
    oc_job_settings_t settings;

    server_start(&server, options);
    settings = limit_settings();
    settings.chunk_size = chunk;
    settings.small_size = small;
    snprintf(expected_reason, sizeof(expected_reason), "%s", reason);
    assert_true(ranks_succeed(&server, num_ranks, &settings, body_too_large, 20));
}

/* Three ranks, whose group costs 704 bytes; a small vector has 8 bytes of heap beside it. */
static void test_too_large(void **state)
{
    const char *many[] = {"--memory-limit", "1M", "--aggregators", "32", NULL};
    const char *most[] = {"--memory-limit", "1M", "--aggregators", "64", NULL};

    (void) state;
    refused(most, 5, 16 * 1024, 2048, "refused: it needs 21312 bytes of an aggregator's memory to "
            "do one step for 5 ranks, and an aggregator has 16384: raise --memory-limit or use "
            "fewer aggregators");
    refused(many, 3, 4096, 16384, "and an aggregator has 32768: raise --memory-limit, use fewer "
            "aggregators, or lower coll_optcast_small_size");
}

/* ---- what fits in smaller pieces ---- */

#define LARGE (MIB / sizeof(float))

static size_t expected_chunk;

/* Right with chunks of that size, and no others, on all ranks. */
static void body_smaller(rank_t *rank)
{
    static float send[LARGE], recv[LARGE], expected[LARGE];

    fill_contribution(send, OC_TYPE_FLOAT, LARGE, rank->rank, 5);
    fill_expected(expected, OC_OP_SUM, OC_TYPE_FLOAT, LARGE, rank->num_ranks, 5);
    CHECK(OC_OK == rank_allreduce(rank, 0, OC_OP_SUM, OC_TYPE_FLOAT, send, recv, LARGE));
    CHECK(0 == memcmp(recv, expected, sizeof(recv)));
    CHECK(1 == rank->counters.allreduce_offloaded);
    CHECK(MIB / expected_chunk == rank->counters.chunks);
}

static oc_job_settings_t coarse_settings(const char *servers)
{
    oc_job_settings_t settings = limit_settings();

    settings.servers = servers;
    settings.peer_aggregation = OC_PEERS_OFF;
    settings.small_size = 4096;
    settings.chunk_size = 512 * 1024;
    return settings;
}

/* Chunks of 512 KiB of 3 ranks do not fit into 1 MiB, nor two of 256 KiB; two of 128 KiB do. */
static void test_smaller_chunks(void **state)
{
    const char *options[] = {"--memory-limit", "1M", NULL};
    oc_job_settings_t settings;

    (void) state;
    expected_chunk = 128 * 1024;
    server_start(&server, options);
    settings = coarse_settings(server.address);
    assert_true(ranks_succeed(&server, 3, &settings, body_smaller, 30));
}

/* The server with the least room decides for all. */
static void test_smallest_counts(void **state)
{
    const char *options[] = {"--memory-limit", "1M", NULL};
    oc_job_settings_t settings;
    test_server_t large;
    unsigned failed;
    char list[160];

    (void) state;
    expected_chunk = 128 * 1024;
    server_start(&large, NULL);
    server_start(&server, options);
    snprintf(list, sizeof(list), "%s,%s", large.address, server.address);
    settings = coarse_settings(list);
    failed = ranks_run(3, &settings, body_smaller, 30);
    assert_int_equal(server_stop(&large), 0);
    assert_int_equal(server_stop(&server), 0);
    assert_int_equal(failed, 0);
}

/* Room for one step and 12 groups of 640 bytes. */
#define FEW 12

static void body_too_many(rank_t *rank)
{
    float one = 1, sum;

    rank_set_up_groups(rank, FEW);
    rank_expect_declined(rank, FEW, expected_reason);
    rank_barrier(rank);
    CHECK(FEW == rank->counters.groups);
    /* the others go on, and one that goes makes room for another */
    rank_set_up_groups(rank, FEW);
    oc_group_destroy(rank->groups[3]);
    rank->groups[3] = NULL;
    rank_barrier(rank);
    rank_linger(rank, 200);
    CHECK(OC_OK == rank_allreduce(rank, FEW + 1, OC_OP_SUM, OC_TYPE_FLOAT, &one, &sum, 1));
    CHECK(2 == sum);
}

static void test_too_many(void **state)
{
    const char *options[] = {"--memory-limit", "1M", NULL};
    oc_job_settings_t settings;

    (void) state;
    server_start(&server, options);
    settings = limit_settings();
    settings.chunk_size = (MIB - 640 * FEW) / 2 / 64 * 64;
    snprintf(expected_reason, sizeof(expected_reason), "the 12 communicators that the job has "
             "leave %zu of 1048576: raise --memory-limit", (size_t) MIB - 640 * FEW);
    assert_true(ranks_succeed(&server, 2, &settings, body_too_many, 30));
}

static void body_first_job(rank_t *rank)
{
    uint64_t end = oc_clock_ns() + 30 * OC_SECOND;

    rank_set_up_groups(rank, 1);
    atomic_fetch_add(&rank->shared->operations, 1);
    while (0 == atomic_load(&rank->shared->signal)) {
        CHECK(oc_clock_ns() < end);
        usleep(1000);
    }
    rank_set_up_groups(rank, 1);
}

/* A job beyond max-jobs falls back, and the one that is there notices nothing. */
static void test_too_many_jobs(void **state)
{
    const char *options[] = {"--max-jobs", "1", NULL};
    oc_job_settings_t settings;
    ranks_t first;
    unsigned failed;
    bool reached;

    (void) state;
    server_start(&server, options);
    settings = limit_settings();
    snprintf(expected_reason, sizeof(expected_reason),
             "refused: the server has 1 jobs, which is its max-jobs");
    ranks_start(&first, 2, &settings, body_first_job, 40);
    reached = ranks_reach(&first, 2);
    failed = ranks_run(2, &settings, body_too_large, 20);
    atomic_store(&first.shared->signal, 1);
    failed += ranks_wait(&first);
    assert_int_equal(server_stop(&server), 0);
    assert_true(reached);
    assert_int_equal(failed, 0);
}

/* ---- a server that is told to stop ---- */

#define DRAINED 24

static void body_drained(rank_t *rank)
{
    rank_set_up_groups(rank, DRAINED);
    for (unsigned n = 0; n < DRAINED; n++) {
        begin_group(rank, (n + 7 * rank->rank) % DRAINED);
    }
    atomic_fetch_add(&rank->shared->operations, 1000);
    /* SIGTERM comes now, and no rank has all that it began */
    while (0 == atomic_load(&rank->shared->signal)) {
        usleep(1000);
    }
    CHECK(rank_wait(rank, outcomes, DRAINED * NUM_COUNTS, 40));
    for (unsigned group = 0; group < DRAINED; group++) {
        check_group(rank, group);
    }
    rank_expect_declined(rank, DRAINED, expected_reason);
    rank_set_up_groups(rank, DRAINED);
    CHECK(0 == rank->counters.failures);
}

static void test_drain(void **state)
{
    const char *options[] = {"--memory-limit", "1M", "--drain-timeout", "60", NULL};
    oc_job_settings_t settings;
    uint64_t begin;
    ranks_t ranks;
    unsigned failed;
    bool reached;

    (void) state;
    server_start(&server, options);
    settings = limit_settings();
    snprintf(expected_reason, sizeof(expected_reason), "refused: the server is going to stop");
    ranks_start(&ranks, 4, &settings, body_drained, 60);
    reached = ranks_reach(&ranks, 4000);
    (void) kill(server.pid, SIGTERM);
    assert_true(server_said(&server, "told to stop", 20000));
    atomic_store(&ranks.shared->signal, 1);
    failed = ranks_wait(&ranks);
    /* it ends by itself, with its last job */
    begin = oc_clock_ns();
    assert_true(server_said(&server, "is over", 20000));
    assert_int_equal(server_stop(&server), 0);
    assert_true(oc_clock_ns() - begin < 5 * OC_SECOND);
    assert_true(reached);
    assert_int_equal(failed, 0);
}

int main(int argc, char **argv)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_crowd),
        cmocka_unit_test(test_crowd_of_aggregators),
        cmocka_unit_test(test_late_rank),
        cmocka_unit_test(test_late_rank_tcp),
        cmocka_unit_test(test_window_shrinks),
        cmocka_unit_test(test_too_large),
        cmocka_unit_test(test_smaller_chunks),
        cmocka_unit_test(test_smallest_counts),
        cmocka_unit_test(test_too_many),
        cmocka_unit_test(test_too_many_jobs),
        cmocka_unit_test(test_drain),
    };

    totals = shared_memory(sizeof(*totals));
    if (argc > 1) {
        cmocka_set_test_filter(argv[1]);
    }
    alarm(960);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
