/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Owns the engine's tests with threads: several in each process use groups of one client at the
 * same time, one beside them only moves things on. Sanitizers see what they do to each other.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/clock.h"
#include "tests/engine/harness.h"
#include "tests/engine/party.h"

#define THREADS    4
#define ROUNDS     5     /* groups that a thread makes, one after the other */
#define OPERATIONS 12    /* on each of them */
#define IN_FLIGHT  3
#define COUNT      6000  /* floats of a large one */
#define LIMIT      (20 * OC_SECOND)

typedef struct {
    board_t boards[THREADS][ROUNDS + 2];
    atomic_uint operations;
} meeting_place_t;

static meeting_place_t *place;

typedef struct {
    rank_t *rank;
    unsigned number;
    pthread_barrier_t *start;
    atomic_bool *over;
    party_t parties[ROUNDS + 2];
    float send[IN_FLIGHT][COUNT], recv[IN_FLIGHT][COUNT], expected[COUNT];
} thread_t;

typedef struct {
    atomic_bool done;
    atomic_int status;
} ending_t;

static void on_finished(void *arg, oc_status_t status)
{
    ending_t *ending = arg;

    atomic_store(&ending->status, status);
    atomic_store(&ending->done, true);
}

static oc_group_t *make_group(thread_t *thread, unsigned number)
{
    rank_t *rank = thread->rank;
    party_t *party = &thread->parties[number];
    oc_group_t *group;
    char name[40];

    *party = (party_t) {.board = &place->boards[thread->number][number], .job = &rank->job,
                        .num_ranks = rank->num_ranks, .rank = rank->rank};
    snprintf(name, sizeof(name), "thread %u, group %u", thread->number, number);
    group = party_group(party, rank->client, name);
    CHECK(NULL != group);
    return group;
}

static void await(const thread_t *thread, ending_t *ending)
{
    const rank_t *rank = thread->rank;
    uint64_t end = oc_clock_ns() + LIMIT;
    unsigned idle = 0;

    while (!atomic_load(&ending->done)) {
        CHECK(oc_clock_ns() < end);
        if (0 == oc_client_progress(rank->client) && ++idle > 20) {
            oc_client_wait(rank->client, 300);
        }
    }
}

/* Several under way at a time, small and large; the first error, or OC_OK and right results. */
static oc_status_t run_some(thread_t *thread, oc_group_t *group, unsigned seed)
{
    rank_t *rank = thread->rank;
    ending_t endings[IN_FLIGHT] = {{0}};
    oc_status_t status = OC_OK;

    for (unsigned i = 0; i < IN_FLIGHT; i++) {
        oc_allreduce_args_t args = {.send = thread->send[i], .recv = thread->recv[i],
                                    .count = (seed + i) % 2 ? 10 : COUNT, .op = OC_OP_SUM,
                                    .type = OC_TYPE_FLOAT, .finished = on_finished,
                                    .arg = &endings[i]};
        oc_status_t started;

        fill_contribution(thread->send[i], OC_TYPE_FLOAT, args.count, rank->rank, seed + i);
        started = oc_allreduce_start(group, &args);
        if (OC_OK != started) {
            on_finished(&endings[i], started);
        }
    }
    for (unsigned i = 0; i < IN_FLIGHT; i++) {
        size_t count = (seed + i) % 2 ? 10 : COUNT;

        await(thread, &endings[i]);
        status = OC_OK == status ? (oc_status_t) atomic_load(&endings[i].status) : status;
        if (OC_OK == atomic_load(&endings[i].status)) {
            fill_expected(thread->expected, OC_OP_SUM, OC_TYPE_FLOAT, count, rank->num_ranks,
                          seed + i);
            CHECK(0 == memcmp(thread->recv[i], thread->expected, count * sizeof(float)));
        }
    }
    atomic_fetch_add(&place->operations, 1);
    return status;
}

/* One group for the whole time, and others that come and go beside those of the other threads. */
static void *come_and_go(void *arg)
{
    thread_t *thread = arg;
    rank_t *rank = thread->rank;
    oc_group_t *lasting = make_group(thread, ROUNDS);
    char text[80];

    pthread_barrier_wait(thread->start);
    for (unsigned round = 0; round < ROUNDS; round++) {
        oc_group_t *group = make_group(thread, round);

        for (unsigned i = 0; i < OPERATIONS; i += IN_FLIGHT) {
            CHECK(OC_OK == run_some(thread, group, 100 * thread->number + i));
        }
        CHECK(OC_OK == run_some(thread, lasting, 7 * round));
        oc_group_describe(group, text, sizeof(text));
        CHECK(NULL != strstr(text, "2 aggregators"));
        oc_group_destroy(group);
        CHECK(1 == thread->parties[round].ended);
    }
    oc_group_destroy(lasting);
    return NULL;
}

/* Until the service is lost; then all threads find it again, in new groups. */
static void *lose_and_return(void *arg)
{
    thread_t *thread = arg;
    rank_t *rank = thread->rank;
    oc_group_t *group = make_group(thread, 0), *next = make_group(thread, 1);
    uint64_t end = oc_clock_ns() + LIMIT;
    oc_status_t status = OC_OK;

    pthread_barrier_wait(thread->start);
    for (unsigned i = 0; OC_OK == status; i++) {
        CHECK(oc_clock_ns() < end);
        status = run_some(thread, group, i);
    }
    CHECK(status < 0);
    CHECK(OC_GROUP_FAILED == oc_group_state(group));
    CHECK('\0' != oc_group_reason(group)[0]);
    oc_group_destroy(group);
    CHECK(OC_OK == run_some(thread, next, 5));
    CHECK(OC_GROUP_LIVE == oc_group_state(next));
    oc_group_destroy(next);
    return NULL;
}

static void *only_progress(void *arg)
{
    thread_t *thread = arg;

    while (!atomic_load(thread->over)) {
        (void) oc_client_progress(thread->rank->client);
        if (oc_client_pending(thread->rank->client) > 0) {
            oc_client_wait(thread->rank->client, 100);
        }
        usleep(50);
    }
    return NULL;
}

static void run_threads(rank_t *rank, void *(*work)(void *arg))
{
    static thread_t threads[THREADS + 1];
    pthread_t ids[THREADS + 1];
    pthread_barrier_t start;
    atomic_bool over = false;

    pthread_barrier_init(&start, NULL, THREADS);
    for (unsigned i = 0; i <= THREADS; i++) {
        threads[i].rank = rank;
        threads[i].number = i;
        threads[i].start = &start;
        threads[i].over = &over;
        CHECK(0 == pthread_create(&ids[i], NULL, i < THREADS ? work : only_progress,
                                  &threads[i]));
    }
    for (unsigned i = 0; i <= THREADS; i++) {
        if (THREADS == i) {
            atomic_store(&over, true);
        }
        CHECK(0 == pthread_join(ids[i], NULL));
    }
    pthread_barrier_destroy(&start);
    CHECK(0 == oc_client_pending(rank->client));
}

static void body_come_and_go(rank_t *rank)
{
    run_threads(rank, come_and_go);
    CHECK(rank->counters.groups == THREADS * (ROUNDS + 1));
    CHECK(rank->counters.allreduce_offloaded
          == THREADS * ROUNDS * (OPERATIONS + IN_FLIGHT));
    CHECK(0 == rank->counters.failures);
}

static void body_lose_and_return(rank_t *rank)
{
    run_threads(rank, lose_and_return);
    CHECK(rank->counters.groups == 2 * THREADS);
    CHECK(rank->counters.failures > 0);
}

static void test_external(void **state)
{
    const char *options[] = {"--aggregators", "2", NULL};
    oc_job_settings_t settings;
    test_server_t server;
    unsigned failed;

    (void) state;
    server_start(&server, options);
    settings = test_settings(server.address);
    settings.connect_timeout = settings.heartbeat_timeout = 15;
    failed = ranks_run(3, &settings, body_come_and_go, 60);
    assert_int_equal(server_stop(&server), 0);
    assert_int_equal(failed, 0);
}

static void test_embedded(void **state)
{
    oc_job_settings_t settings = test_settings("embedded:2");

    (void) state;
    settings.connect_timeout = settings.heartbeat_timeout = 15;
    assert_int_equal(ranks_run(2, &settings, body_come_and_go, 60), 0);
}

static void test_lost(void **state)
{
    const char *options[] = {"--aggregators", "2", NULL};
    oc_job_settings_t settings;
    test_server_t server;
    ranks_t ranks;
    unsigned failed;
    pid_t data;

    (void) state;
    server_start(&server, options);
    settings = test_settings(server.address);
    settings.connect_timeout = settings.heartbeat_timeout = 15;
    ranks_start(&ranks, 2, &settings, body_lose_and_return, 60);
    for (int i = 0; i < 20000 && atomic_load(&place->operations) < 60; i++) {
        usleep(1000);
    }
    data = server_data_process(&server);
    (void) kill(data, SIGKILL);
    failed = ranks_wait(&ranks);
    assert_int_equal(server_stop(&server), 0);
    assert_true(data > 0);
    assert_int_equal(failed, 0);
}

static int set_place(void **state)
{
    (void) state;
    memset(place, 0, sizeof(*place));
    return 0;
}

int main(int argc, char **argv)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_external, set_place),
        cmocka_unit_test_setup(test_embedded, set_place),
        cmocka_unit_test_setup(test_lost, set_place),
    };

    place = mmap(NULL, sizeof(*place), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (MAP_FAILED == (void *) place) {
        return EXIT_FAILURE;
    }
    if (argc > 1) {
        cmocka_set_test_filter(argv[1]);
    }
    alarm(110);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
