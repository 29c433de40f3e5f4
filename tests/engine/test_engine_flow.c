/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Owns the engine's tests of what is under way, and in which order: how large vectors of one group
 * leave room for those of others and go in order, where ranks begin, how large chunks are, and how much goes
 * unasked. Everything is counted, in the timelines of the ranks.
 */
/* Test: quick 120 */
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
#include "tests/engine/farm.h"
#include "tests/engine/harness.h"

#define CHUNK       16384u
#define CHUNK_COUNT (CHUNK / sizeof(float))
#define WINDOW      3

static test_server_t server;
static const char *memory_limit = "1G";
static char prefix[64];

/* From a rank, which is a process, to the test. */
static atomic_ullong *mark;

/* ---- timelines ---- */

#define MAX_RECORDS 2000

typedef struct {
    unsigned handle, aggregator, number, bytes;
    unsigned long long sequence, posted, sent, result;
} record_t;

static record_t records[MAX_RECORDS];

/* What a rank has noted about its chunks. */
static unsigned read_records(unsigned rank)
{
    char path[128], line[256];
    unsigned count = 0;
    FILE *file;

    snprintf(path, sizeof(path), "%s-rank-%u.timeline", prefix, rank);
    file = fopen(path, "r");
    assert_non_null(file);
    while (NULL != fgets(line, sizeof(line), file)) {
        record_t *r = &records[count];

        if (8 == sscanf(line, "%u %u %llu %u %u %*u %*u %llu %llu %llu", &r->handle,
                        &r->aggregator, &r->sequence, &r->number, &r->bytes, &r->posted, &r->sent,
                        &r->result)) {
            assert_true(++count < MAX_RECORDS);
        }
    }
    fclose(file);
    return count;
}

/* When nothing of it was under way any more. */
static unsigned long long end_of(const record_t *record)
{
    return record->sent > record->result ? record->sent : record->result;
}

static int by_posted(const void *a, const void *b)
{
    const record_t *x = a, *y = b;

    return x->posted < y->posted ? -1 : x->posted > y->posted;
}

/* ---- running ---- */

static void make_prefix(void)
{
    int fd;

    snprintf(prefix, sizeof(prefix), "/tmp/optcast_flow_XXXXXX");
    fd = mkstemp(prefix);
    assert_true(fd >= 0);
    close(fd);
}

static void run(const char *aggregators, uint32_t num_ranks, const oc_job_settings_t *settings,
                void (*body)(rank_t *rank))
{
    oc_job_settings_t copy = *settings;
    const char *options[] = {"--aggregators", aggregators, "--memory-limit", memory_limit, NULL};

    make_prefix();
    server_start(&server, options);
    copy.servers = server.address;
    copy.timeline = prefix;
    assert_true(ranks_succeed(&server, num_ranks, &copy, body, 60));
}

static void clean_up(void)
{
    char command[128];

    snprintf(command, sizeof(command), "rm -f %s %s-*.timeline", prefix, prefix);
    assert_int_equal(system(command), 0);
}

/* ---- groups that share aggregators ---- */

#define MANY        30
#define MANY_CHUNKS 12
#define FEW_CHUNKS  8

static void body_two_groups(rank_t *rank)
{
    static float send[MANY_CHUNKS * CHUNK_COUNT], expected[MANY_CHUNKS * CHUNK_COUNT];
    static float recv[MANY + 1][MANY_CHUNKS * CHUNK_COUNT];
    static outcome_t outcomes[MANY + 1];

    fill_contribution(send, OC_TYPE_FLOAT, MANY_CHUNKS * CHUNK_COUNT, rank->rank, 1);
    fill_expected(expected, OC_OP_SUM, OC_TYPE_FLOAT, MANY_CHUNKS * CHUNK_COUNT, rank->num_ranks,
                  1);
    rank_set_up_groups(rank, 2);
    for (unsigned i = 0; i < MANY; i++) {
        CHECK(OC_OK == rank_start(rank, 0, OC_OP_SUM, OC_TYPE_FLOAT, send, recv[i],
                                  MANY_CHUNKS * CHUNK_COUNT, &outcomes[i]));
    }
    CHECK(OC_OK == rank_start(rank, 1, OC_OP_SUM, OC_TYPE_FLOAT, send, recv[MANY],
                              FEW_CHUNKS * CHUNK_COUNT, &outcomes[MANY]));
    /* nobody moves anything on before all have begun both */
    rank_compute(rank);
    CHECK(rank_wait(rank, outcomes, MANY + 1, 40));
    for (unsigned i = 0; i <= MANY; i++) {
        CHECK(OC_OK == outcomes[i].status);
        CHECK(0 == memcmp(recv[i], expected,
                          (i < MANY ? MANY_CHUNKS : FEW_CHUNKS) * CHUNK_COUNT * sizeof(float)));
    }
}

/*
 * No more of a group than its window on each aggregator, in bytes, and in order. The most chunks
 * that were under way there.
 */
static unsigned check_window(unsigned count, unsigned long long window)
{
    unsigned most = 0;

    for (unsigned i = 0; i < count; i++) {
        const record_t *r = &records[i];
        unsigned long long bytes = r->bytes;
        unsigned chunks = 1;

        for (unsigned k = 0; k < count; k++) {
            const record_t *other = &records[k];

            if (other->handle != r->handle || other->aggregator != r->aggregator || other == r) {
                continue;
            }
            if (other->posted <= r->posted && end_of(other) > r->posted) {
                bytes += other->bytes;
                chunks++;
            }
            assert_true(other->sequence >= r->sequence || other->posted <= r->posted);
        }
        assert_true(bytes <= window);
        most = chunks > most ? chunks : most;
    }
    return most;
}

/*
 * Of the large group, on an aggregator: what was under way when the small one came, and as much
 * again each time that the small one's window is served.
 */
static void check_share(unsigned count, unsigned large, unsigned aggregator)
{
    unsigned long long begin = ~0ull, end = 0;
    unsigned ahead = 0;

    for (unsigned i = 0; i < count; i++) {
        if (records[i].handle != large && records[i].aggregator == aggregator) {
            begin = records[i].posted < begin ? records[i].posted : begin;
            end = end_of(&records[i]) > end ? end_of(&records[i]) : end;
        }
    }
    for (unsigned i = 0; i < count; i++) {
        ahead += records[i].handle == large && records[i].aggregator == aggregator
                 && records[i].result > begin && records[i].result < end;
    }
    print_message("aggregator %u: %u chunks of the other group went before the last of %u\n",
                  aggregator, ahead, FEW_CHUNKS / 2);
    assert_true(ahead <= 4 * WINDOW);
}

/* One with many vectors under way, and one with a single vector that comes later. */
static void test_share_of_groups(void **state)
{
    oc_job_settings_t settings = test_settings("");
    unsigned count, large;

    (void) state;
    run("2", 2, &settings, body_two_groups);
    for (unsigned rank = 0; rank < 2; rank++) {
        count = read_records(rank);
        assert_int_equal(count, MANY * MANY_CHUNKS + FEW_CHUNKS);
        qsort(records, count, sizeof(records[0]), by_posted);
        large = records[0].handle;
        assert_int_equal(check_window(count, WINDOW * CHUNK), WINDOW);
        check_share(count, large, 0);
        check_share(count, large, 1);
    }
    clean_up();
}

/* ---- windows of bytes ---- */

#define FINE_VECTORS 12
#define FINE_COUNT   (WINDOW * CHUNK_COUNT)

/* All have begun before anything is moved on. Hosts that reduce first would round otherwise. */
static void many_vectors(rank_t *rank, unsigned vectors, size_t count)
{
    static int32_t send[16 * CHUNK_COUNT], expected[16 * CHUNK_COUNT];
    static int32_t recv[FINE_VECTORS][16 * CHUNK_COUNT];
    static outcome_t outcomes[FINE_VECTORS];

    fill_contribution(send, OC_TYPE_INT32, count, rank->rank, 1);
    fill_expected(expected, OC_OP_SUM, OC_TYPE_INT32, count, rank->num_ranks, 1);
    rank_set_up_groups(rank, 1);
    for (unsigned i = 0; i < vectors; i++) {
        CHECK(OC_OK == rank_start(rank, 0, OC_OP_SUM, OC_TYPE_INT32, send, recv[i], count,
                                  &outcomes[i]));
    }
    rank_compute(rank);
    CHECK(rank_wait(rank, outcomes, vectors, 40));
    for (unsigned i = 0; i < vectors; i++) {
        CHECK(OC_OK == outcomes[i].status);
        CHECK(0 == memcmp(recv[i], expected, count * sizeof(int32_t)));
    }
}

static void body_fine(rank_t *rank)
{
    many_vectors(rank, FINE_VECTORS, FINE_COUNT);
}

/* Chunks of a quarter of the largest: four times as many fit, of several vectors. */
static void test_window_in_bytes(void **state)
{
    oc_job_settings_t settings = test_settings("");

    (void) state;
    settings.chunk_size = 0;
    assert_int_equal(oc_settings_largest_chunk(&settings), 4 * CHUNK);
    run("1", 2, &settings, body_fine);
    for (unsigned rank = 0; rank < 2; rank++) {
        unsigned count = read_records(rank);

        assert_int_equal(count, FINE_VECTORS * WINDOW);
        assert_int_equal(check_window(count, WINDOW * 4 * CHUNK), 4 * WINDOW);
    }
    clean_up();
}

static void body_node(rank_t *rank)
{
    static const uint8_t two_each[] = {1, 1, 2, 2};
    char text[256];

    rank->hosts = two_each;
    many_vectors(rank, FINE_VECTORS, 16 * CHUNK_COUNT);
    oc_group_describe(rank->groups[0], text, sizeof(text));
    CHECK(NULL != strstr(text, "node reduction shape"));
}

/* Where hosts reduce first, each rank has the same window for its part. */
static void test_window_in_node_shape(void **state)
{
    oc_job_settings_t settings = test_settings("");

    (void) state;
    run("1", 4, &settings, body_node);
    for (unsigned rank = 0; rank < 4; rank++) {
        unsigned count = read_records(rank);

        assert_int_equal(count, FINE_VECTORS * 8);
        assert_true(check_window(count, WINDOW * CHUNK) <= WINDOW);
    }
    clean_up();
}

/* ---- shares and several vectors ---- */

static void body_two_vectors(rank_t *rank)
{
    many_vectors(rank, 2, 16 * CHUNK_COUNT);
}

/*
 * On the server with the small share, the first vector has to keep its pace, and the second has to
 * stay behind it: if that took the room, ranks could wait for each other for ever.
 */
static void test_shares_and_order(void **state)
{
    oc_job_settings_t settings = test_settings("");

    (void) state;
    make_prefix();
    settings.timeline = prefix;
    farm_run((const char *[]) {"weight=3", "weight=1", NULL}, "1", 2, &settings, body_two_vectors,
             60);
    for (unsigned rank = 0; rank < 2; rank++) {
        unsigned count = read_records(rank), small = 0;

        for (unsigned i = 0; i < count; i++) {
            /* a quarter of the first vector */
            small += 1 == records[i].aggregator && records[i].sequence == records[0].sequence;
        }
        assert_int_equal(count, 32);
        assert_int_equal(small, 4);
        (void) check_window(count, WINDOW * CHUNK);
    }
    clean_up();
}

/* ---- where ranks begin ---- */

#define LANES 4

static void body_lanes(rank_t *rank)
{
    static float send[LANES * 4 * CHUNK_COUNT], recv[LANES * 4 * CHUNK_COUNT];

    CHECK(OC_OK == rank_allreduce(rank, 0, OC_OP_SUM, OC_TYPE_FLOAT, send, recv,
                                  LANES * 4 * CHUNK_COUNT));
    /* two chunks of 4 KiB each */
    for (unsigned i = 0; i < LANES; i++) {
        CHECK(OC_OK == rank_allreduce(rank, 0, OC_OP_SUM, OC_TYPE_FLOAT, send, recv, 2048));
    }
}

/* Ranks begin with different aggregators, and then take one chunk of each in turn. */
static void test_first_aggregators(void **state)
{
    oc_job_settings_t settings = test_settings("");

    (void) state;
    run("4", 4, &settings, body_lanes);
    for (unsigned rank = 0; rank < 4; rank++) {
        unsigned count = read_records(rank), chunks = LANES * 4;

        assert_int_equal(count, chunks + 2 * LANES);
        qsort(records, count, sizeof(records[0]), by_posted);
        for (unsigned i = 0; i < WINDOW * LANES; i++) {
            assert_int_equal(records[i].aggregator, (rank + i) % LANES);
            assert_int_equal(records[i].number, i / LANES);
        }
        /* and of each vector, the first chunk is another aggregator's */
        for (unsigned i = chunks; i < count; i++) {
            unsigned first = (unsigned) (records[i].sequence % LANES);

            assert_true(records[i].aggregator == first
                        || records[i].aggregator == (first + 1) % LANES);
        }
    }
    clean_up();
}

/* ---- how large chunks are ---- */

#define MOST_BYTES (9u << 20)

/* With two aggregators. */
typedef struct {
    size_t bytes;
    unsigned chunks;
} size_case_t;

static void check_sizes(rank_t *rank, const size_case_t *cases, size_t count)
{
    static float send[MOST_BYTES / sizeof(float)], recv[MOST_BYTES / sizeof(float)];

    for (size_t i = 0; i < count; i++) {
        unsigned long long before = rank->counters.chunks;

        CHECK(OC_OK == rank_allreduce(rank, 0, OC_OP_SUM, OC_TYPE_FLOAT, send, recv,
                                      cases[i].bytes / sizeof(float)));
        CHECK(before + cases[i].chunks == rank->counters.chunks);
    }
}

static void body_automatic(rank_t *rank)
{
    static const size_case_t cases[] = {
        {MOST_BYTES, 144},     /* no larger than 64 KiB */
        {8u << 20, 128},       /* both aggregators have 64 of these */
        {4u << 20, 128},       /* and these are of 32 KiB */
        {512u << 10, 32},      /* but not smaller than 16 KiB */
        {24u << 10, 2},        /* each aggregator has something to do */
    };

    check_sizes(rank, cases, sizeof(cases) / sizeof(cases[0]));
}

static void body_given(rank_t *rank)
{
    static const size_case_t cases[] = {
        {4u << 20, 64},
        {512u << 10, 8},
        {100u << 10, 3},       /* 48 KiB, no more than a half in units of 4 KiB */
        {24u << 10, 2},
    };

    check_sizes(rank, cases, sizeof(cases) / sizeof(cases[0]));
}

static void test_sizes(void **state)
{
    oc_job_settings_t settings = test_settings("");

    (void) state;
    settings.chunk_size = 0;
    run("2", 2, &settings, body_automatic);
    clean_up();
    settings.chunk_size = 65536;
    run("2", 2, &settings, body_given);
    clean_up();
}

/* ---- what goes unasked ---- */

#define UNASKED 4

/* Nothing is received as long as others have not begun: what has gone then was not asked for. */
static void body_unasked(rank_t *rank)
{
    static float send[2 * WINDOW * CHUNK_COUNT], recv[2][2 * WINDOW * CHUNK_COUNT];
    static outcome_t outcomes[2];

    rank_set_up_groups(rank, 2);
    for (unsigned turn = 0; turn < 2; turn++) {
        for (unsigned group = 0; group < 2 && turn == (0 != rank->rank); group++) {
            CHECK(OC_OK == rank_start(rank, group, OC_OP_SUM, OC_TYPE_FLOAT, send, recv[group],
                                      2 * WINDOW * CHUNK_COUNT, &outcomes[group]));
        }
        if (0 == turn && 0 == rank->rank) {
            rank_linger(rank, 500);
            atomic_store(mark, oc_clock_ns());
        }
        rank_compute(rank);
    }
    CHECK(rank_wait(rank, outcomes, 2, 20));
}

static void count_unasked(uint32_t num_ranks, const oc_job_settings_t *settings)
{
    unsigned count, posted = 0, sent = 0;

    setenv("OPTCAST_UCX_TLS", "tcp", 1);
    setenv("OPTCAST_UCX_NET_DEVICES", "lo", 1);
    run("1", num_ranks, settings, body_unasked);
    unsetenv("OPTCAST_UCX_TLS");
    unsetenv("OPTCAST_UCX_NET_DEVICES");
    count = read_records(0);
    for (unsigned i = 0; i < count; i++) {
        posted += records[i].posted < atomic_load(mark);
        sent += records[i].sent < atomic_load(mark);
    }
    assert_int_equal(posted, 2 * WINDOW);
    assert_int_equal(sent, UNASKED);
    clean_up();
}

/* From both groups together no more than eager_window, and the rest of both windows announced. */
static void test_unasked(void **state)
{
    oc_job_settings_t settings = test_settings("");

    (void) state;
    settings.eager_window = UNASKED * CHUNK + CHUNK / 2;
    count_unasked(2, &settings);
}

/* No more than the server says, which is a quarter of its memory for all ranks. */
static void test_unasked_by_server(void **state)
{
    oc_job_settings_t settings = test_settings("");

    (void) state;
    assert_int_equal((2u << 20) / 4 / MAX_TEST_RANKS, UNASKED * CHUNK);
    memory_limit = "2M";
    count_unasked(MAX_TEST_RANKS, &settings);
    memory_limit = "1G";
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_share_of_groups),
        cmocka_unit_test(test_window_in_bytes),
        cmocka_unit_test(test_window_in_node_shape),
        cmocka_unit_test(test_shares_and_order),
        cmocka_unit_test(test_first_aggregators),
        cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_unasked),
        cmocka_unit_test(test_unasked_by_server),
    };

    mark = shared_memory(sizeof(*mark));
    alarm(800);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
