/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Owns the tests of what a small Allreduce costs: one message each way, and no memory from the heap,
 * neither in the ranks nor in the aggregator.
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
#include <sys/prctl.h>
#include <unistd.h>

#include "tests/engine/harness.h"

#define WARM_UP       100
#define OPERATIONS    1000
#define WINDOWS       10     /* of so many operations */
#define MAX_BYTES     8192
#define MAX_IN_FLIGHT 25

/* ---- calls of the heap ---- */

static atomic_uint calls;
static atomic_bool counting;

/* Heartbeats are no business of operations: the control thread allocates for each. */
static bool is_data_thread(void)
{
    static __thread int known;    /* 1: it is, 2: it is not */
    char name[16] = "";

    if (0 == known) {
        (void) prctl(PR_GET_NAME, name);
        known = NULL == strstr(name, "optcast-control") ? 1 : 2;
    }
    return 1 == known;
}

static void count(void)
{
    if (atomic_load(&counting) && is_data_thread()) {
        atomic_fetch_add(&calls, 1);
    }
}

/*
 * The linker puts these in the place of the heap's own, for all objects of this program: engine,
 * aggregator and the test itself, but not UCX.
 */
void *__real_malloc(size_t size);
void *__real_calloc(size_t number, size_t size);
void *__real_realloc(void *memory, size_t size);
void *__real_aligned_alloc(size_t alignment, size_t size);
int __real_posix_memalign(void **memory, size_t alignment, size_t size);
void __real_free(void *memory);

void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t number, size_t size);
void *__wrap_realloc(void *memory, size_t size);
void *__wrap_aligned_alloc(size_t alignment, size_t size);
int __wrap_posix_memalign(void **memory, size_t alignment, size_t size);
void __wrap_free(void *memory);

void *__wrap_malloc(size_t size)
{
    count();
    return __real_malloc(size);
}

void *__wrap_calloc(size_t number, size_t size)
{
    count();
    return __real_calloc(number, size);
}

void *__wrap_realloc(void *memory, size_t size)
{
    count();
    return __real_realloc(memory, size);
}

void *__wrap_aligned_alloc(size_t alignment, size_t size)
{
    count();
    return __real_aligned_alloc(alignment, size);
}

int __wrap_posix_memalign(void **memory, size_t alignment, size_t size)
{
    count();
    return __real_posix_memalign(memory, alignment, size);
}

void __wrap_free(void *memory)
{
    count();
    __real_free(memory);
}

/* ---- operations ---- */

static uint8_t send_buffer[MAX_BYTES], recv_buffers[MAX_IN_FLIGHT][MAX_BYTES], expected[MAX_BYTES];
static outcome_t outcomes[MAX_IN_FLIGHT];

/* That many, in_flight of them at a time. */
static void operate(rank_t *rank, size_t bytes, unsigned number, unsigned in_flight)
{
    for (unsigned done = 0; done < number; done += in_flight) {
        for (unsigned i = 0; i < in_flight; i++) {
            CHECK(OC_OK == rank_start(rank, 0, OC_OP_SUM, OC_TYPE_INT32, send_buffer,
                                      recv_buffers[i], bytes / 4, &outcomes[i]));
        }
        CHECK(rank_wait(rank, outcomes, in_flight, 12));
        for (unsigned i = 0; i < in_flight; i++) {
            CHECK(OC_OK == outcomes[i].status);
            CHECK(0 == memcmp(recv_buffers[i], expected, bytes));
        }
    }
}

/* Of all ranks, in so many operations. */
static int count_calls(rank_t *rank, size_t bytes, unsigned in_flight)
{
    atomic_store(&calls, 0);
    rank_barrier(rank);
    atomic_store(&counting, true);
    operate(rank, bytes, OPERATIONS, in_flight);
    rank_barrier(rank);
    atomic_store(&counting, false);
    atomic_fetch_add(&rank->shared->signal, (int) atomic_load(&calls));
    rank_barrier(rank);
    return atomic_load(&rank->shared->signal);
}

/*
 * Ranks are not in step, and how far they are apart decides how much is needed at a time: the most
 * may not have been seen while they warmed up. Then a later window has no call any more.
 */
static void expect_no_calls(rank_t *rank, size_t bytes, unsigned in_flight)
{
    int found = 1;

    fill_contribution(send_buffer, OC_TYPE_INT32, bytes / 4, rank->rank, 1);
    fill_expected(expected, OC_OP_SUM, OC_TYPE_INT32, bytes / 4, rank->num_ranks, 1);
    operate(rank, bytes, WARM_UP, MAX_IN_FLIGHT);
    for (unsigned window = 0; window < WINDOWS && found > 0; window++) {
        found = count_calls(rank, bytes, in_flight);
        /* many less than operations */
        CHECK(found < (int) OPERATIONS / 4);
        rank_barrier(rank);
        atomic_store(&rank->shared->signal, 0);
        rank_barrier(rank);
    }
    CHECK(0 == found);
}

static void body_no_calls(rank_t *rank)
{
    static const size_t sizes[] = {8, 64, 1000, 4096, MAX_BYTES};

    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        expect_no_calls(rank, sizes[i], 1);
        expect_no_calls(rank, sizes[i], 8);
    }
}

static oc_job_settings_t small_settings(const char *servers)
{
    oc_job_settings_t settings = test_settings(servers);

    settings.small_size = MAX_BYTES;
    return settings;
}

/* Rank 0's process has the aggregator, too. */
static void test_no_calls(void **state)
{
    oc_job_settings_t settings = small_settings("embedded");

    (void) state;
    assert_int_equal(ranks_run(3, &settings, body_no_calls, 60), 0);
}

static void test_no_calls_tcp(void **state)
{
    oc_job_settings_t settings = small_settings("embedded");

    (void) state;
    setenv("OPTCAST_UCX_TLS", "tcp", 1);
    setenv("OPTCAST_UCX_NET_DEVICES", "lo", 1);
    assert_int_equal(ranks_run(3, &settings, body_no_calls, 60), 0);
    unsetenv("OPTCAST_UCX_TLS");
    unsetenv("OPTCAST_UCX_NET_DEVICES");
}

/* The counting itself: a large vector does allocate. */
static void body_calls(rank_t *rank)
{
    static uint8_t large[4 * MAX_BYTES];

    CHECK(OC_OK == rank_allreduce(rank, 0, OC_OP_SUM, OC_TYPE_INT32, large, large,
                                  sizeof(large) / 4));
    atomic_store(&counting, true);
    CHECK(OC_OK == rank_allreduce(rank, 0, OC_OP_SUM, OC_TYPE_INT32, large, large,
                                  sizeof(large) / 4));
    CHECK(atomic_load(&calls) > 0);
}

static void test_calls_are_counted(void **state)
{
    oc_job_settings_t settings = small_settings("embedded");

    (void) state;
    assert_int_equal(ranks_run(2, &settings, body_calls, 30), 0);
}

/* ---- messages ---- */

static void body_messages(rank_t *rank)
{
    unsigned long long before;

    fill_contribution(send_buffer, OC_TYPE_INT32, MAX_BYTES / 4, rank->rank, 1);
    fill_expected(expected, OC_OP_SUM, OC_TYPE_INT32, MAX_BYTES / 4, rank->num_ranks, 1);
    operate(rank, 8, 1, 1);
    before = rank->counters.messages_sent;
    for (size_t bytes = 8; bytes <= MAX_BYTES; bytes *= 2) {
        operate(rank, bytes, 10, 10);
    }
    CHECK(rank->counters.messages_sent - before == 10 * 11);
    CHECK(0 == rank->counters.messages_resent);
    CHECK(0 == rank->counters.chunks);
}

static void test_one_message_each_way(void **state)
{
    oc_job_settings_t settings = small_settings("embedded:2");

    (void) state;
    assert_int_equal(ranks_run(3, &settings, body_messages, 30), 0);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_no_calls),
        cmocka_unit_test(test_no_calls_tcp),
        cmocka_unit_test(test_calls_are_counted),
        cmocka_unit_test(test_one_message_each_way),
    };

    alarm(440);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
