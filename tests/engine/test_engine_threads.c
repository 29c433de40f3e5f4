/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Owns the engine's tests with threads: several in each process use groups of one client at the
 * same time, of servers and of multicast, one beside them only moves things on. Sanitizers see what
 * they do to each other.
 */
/* Test: quick 120; threads: default 120 */
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
#include <unistd.h>

#include "base/clock.h"
#include "tests/engine/harness.h"
#include "tests/engine/party.h"
#include "tests/faults/door.h"

#define THREADS     4
#define ROUNDS      5     /* groups that a thread makes, one after the other */
#define CAST_ROUNDS 3     /* the same, of multicast */
#define OPERATIONS  12    /* on each of them */
#define IN_FLIGHT   3
#define COUNT       6000  /* floats of a large one */
#define BLOCK       70000 /* bytes of a large Allgather */
#define MAX_RANKS   3
#define LIMIT       (20 * OC_SECOND)

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
    uint8_t blocks[IN_FLIGHT][MAX_RANKS * BLOCK];
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

static oc_group_t *make_group(thread_t *thread, unsigned number, oc_service_t service)
{
    rank_t *rank = thread->rank;
    party_t *party = &thread->parties[number];
    oc_group_t *group;
    char name[40];

    *party = (party_t) {.board = &place->boards[thread->number][number], .job = &rank->job,
                        .num_ranks = rank->num_ranks, .rank = rank->rank,
                        .service = service};
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

/* Does some operations on the group, and waits for them. */
typedef oc_status_t some_t(thread_t *thread, oc_group_t *group, unsigned seed);

/* One group for the whole time, and others that come and go beside those of the other threads. */
static void use_groups(thread_t *thread, oc_service_t service, unsigned rounds, some_t *some,
                       const char *description)
{
    rank_t *rank = thread->rank;
    oc_group_t *lasting = make_group(thread, ROUNDS, service);
    char text[200];

    pthread_barrier_wait(thread->start);
    for (unsigned round = 0; round < rounds; round++) {
        oc_group_t *group = make_group(thread, round, service);

        for (unsigned i = 0; i < OPERATIONS; i += IN_FLIGHT) {
            CHECK(OC_OK == some(thread, group, 100 * thread->number + i));
        }
        CHECK(OC_OK == some(thread, lasting, 7 * round));
        oc_group_describe(group, text, sizeof(text));
        CHECK(NULL != strstr(text, description));
        oc_group_destroy(group);
        CHECK(1 == thread->parties[round].ended);
    }
    oc_group_destroy(lasting);
}

static void *come_and_go(void *arg)
{
    const thread_t *thread = arg;
    bool embeds = 0 == strncmp(thread->rank->settings.servers, "embedded", 8);

    use_groups(arg, OC_SERVICE_AGGREGATION, ROUNDS, run_some, embeds ? "2 peers" : "2 aggregators");
    return NULL;
}

/* Until the service is lost; then all threads find it again, in new groups. */
static void *lose_and_return(void *arg)
{
    thread_t *thread = arg;
    rank_t *rank = thread->rank;
    oc_group_t *group = make_group(thread, 0, OC_SERVICE_AGGREGATION);
    oc_group_t *next = make_group(thread, 1, OC_SERVICE_AGGREGATION);
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

/* ---- multicast ---- */

static uint8_t byte_of(uint32_t rank, size_t i, unsigned seed)
{
    return (uint8_t) (i * 31 + (i >> 8) * 7 + rank * 101 + seed * 13 + 1);
}

static size_t block_of(unsigned seed)
{
    return 0 == seed % 2 ? 100 : BLOCK;
}

static bool is_bcast(unsigned seed)
{
    return 2 == seed % 3;
}

/* Of a Bcast there is one block, of rank 0. */
static void fill_block(const rank_t *rank, uint8_t *blocks, unsigned seed)
{
    size_t length = block_of(seed), begin = is_bcast(seed) ? 0 : rank->rank * length;

    memset(blocks, 0, (size_t) MAX_RANKS * BLOCK);
    for (size_t i = 0; i < length && (0 == rank->rank || !is_bcast(seed)); i++) {
        blocks[begin + i] = byte_of(rank->rank, i, seed);
    }
}

static void check_blocks(const rank_t *rank, const uint8_t *blocks, unsigned seed)
{
    uint32_t count = is_bcast(seed) ? 1 : rank->num_ranks;
    size_t length = block_of(seed);

    for (uint32_t owner = 0; owner < count; owner++) {
        for (size_t i = 0; i < length; i++) {
            CHECK(byte_of(owner, i, seed) == blocks[owner * length + i]);
        }
    }
}

static void start_cast(oc_group_t *group, uint8_t *blocks, unsigned seed, ending_t *ending)
{
    oc_allgather_args_t allgather = {.recv = blocks, .block = block_of(seed), .blocking = true,
                                     .finished = on_finished, .arg = ending};
    oc_bcast_args_t bcast = {.buffer = blocks, .length = block_of(seed), .blocking = true,
                             .finished = on_finished, .arg = ending};
    oc_status_t started = is_bcast(seed) ? oc_bcast_start(group, &bcast)
                                         : oc_allgather_start(group, &allgather);

    if (OC_OK != started) {
        on_finished(ending, started);
    }
}

/* As run_some: Allgathers and Bcasts. */
static oc_status_t cast_some(thread_t *thread, oc_group_t *group, unsigned seed)
{
    const rank_t *rank = thread->rank;
    ending_t endings[IN_FLIGHT] = {{0}};
    oc_status_t status = OC_OK;

    for (unsigned i = 0; i < IN_FLIGHT; i++) {
        fill_block(rank, thread->blocks[i], seed + i);
        start_cast(group, thread->blocks[i], seed + i, &endings[i]);
    }
    for (unsigned i = 0; i < IN_FLIGHT; i++) {
        await(thread, &endings[i]);
        status = OC_OK == status ? (oc_status_t) atomic_load(&endings[i].status) : status;
        if (OC_OK == atomic_load(&endings[i].status)) {
            check_blocks(rank, thread->blocks[i], seed + i);
        }
    }
    atomic_fetch_add(&place->operations, 1);
    return status;
}

/* As come_and_go; the last thread stays with its servers. */
static void *cast_and_go(void *arg)
{
    thread_t *thread = arg;

    if (THREADS - 1 == thread->number) {
        return come_and_go(thread);
    }
    use_groups(thread, OC_SERVICE_MULTICAST, CAST_ROUNDS, cast_some, "udp multicast");
    return NULL;
}

/* One dies in the middle; all threads of the others get an error that names it. */
static void *cast_and_die(void *arg)
{
    thread_t *thread = arg;
    rank_t *rank = thread->rank;
    oc_group_t *group = make_group(thread, 0, OC_SERVICE_MULTICAST);
    oc_status_t status = OC_OK;

    pthread_barrier_wait(thread->start);
    for (unsigned i = 0; OC_OK == status; i++) {
        if (1 == rank->rank && atomic_load(&place->operations) >= 40) {
            raise(SIGKILL);
        }
        status = cast_some(thread, group, i);
    }
    CHECK(status < 0);
    CHECK(OC_GROUP_FAILED == oc_group_state(group));
    CHECK(NULL != strstr(oc_group_reason(group), "rank 1"));
    oc_group_destroy(group);
    return NULL;
}

/* ---- all ---- */

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
    rank_settle(rank);
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

static void body_cast_and_go(rank_t *rank)
{
    unsigned long long casts = (THREADS - 1) * CAST_ROUNDS * (OPERATIONS + IN_FLIGHT);

    run_threads(rank, cast_and_go);
    CHECK(rank->counters.groups == (THREADS - 1) * (CAST_ROUNDS + 1) + ROUNDS + 1);
    CHECK(rank->counters.allgather_offloaded + rank->counters.bcast_offloaded == casts);
    CHECK(rank->counters.allreduce_offloaded == ROUNDS * (OPERATIONS + IN_FLIGHT));
    CHECK(0 == rank->counters.failures);
}

static void body_cast_and_die(rank_t *rank)
{
    run_threads(rank, cast_and_die);
    CHECK(rank->counters.failures > 0);
    oc_client_destroy(rank->client);
    exit(EXIT_SUCCESS);
}

static void test_external(void **state)
{
    const char *options[] = {"--aggregators", "2", NULL};
    oc_job_settings_t settings;
    test_server_t server;

    (void) state;
    server_start(&server, options);
    settings = test_settings(server.address);
    settings.connect_timeout = settings.heartbeat_timeout = 15;
    assert_true(ranks_succeed(&server, 3, &settings, body_come_and_go, 60));
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

static oc_job_settings_t cast_settings(void)
{
    oc_job_settings_t settings = test_settings("embedded:2");

    settings.multicast = OC_MULTICAST_UDP;
    settings.multicast_interface = "lo";
    settings.connect_timeout = settings.heartbeat_timeout = 15;
    return settings;
}

static void test_cast(void **state)
{
    oc_job_settings_t settings = cast_settings();

    (void) state;
    assert_int_equal(ranks_run(MAX_RANKS, &settings, body_cast_and_go, 60), 0);
}

static void test_cast_with_losses(void **state)
{
    oc_job_settings_t settings = cast_settings();

    (void) state;
    faults_install("drop=0.1,duplicate=0.05,reorder=0.05,seed=5");
    assert_int_equal(ranks_run(2, &settings, body_cast_and_go, 60), 0);
}

static void test_cast_lost(void **state)
{
    oc_job_settings_t settings = cast_settings();

    (void) state;
    settings.heartbeat_timeout = 5;
    /* the one that dies */
    assert_int_equal(ranks_run(MAX_RANKS, &settings, body_cast_and_die, 60), 1);
}

static int set_place(void **state)
{
    (void) state;
    memset(place, 0, sizeof(*place));
    return 0;
}

/* Faults are for one test. */
static int mend_network(void **state)
{
    (void) state;
    faults_install("");
    return 0;
}

int main(int argc, char **argv)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_external, set_place),
        cmocka_unit_test_setup(test_embedded, set_place),
        cmocka_unit_test_setup(test_lost, set_place),
        cmocka_unit_test_setup(test_cast, set_place),
        cmocka_unit_test_setup_teardown(test_cast_with_losses, set_place, mend_network),
        cmocka_unit_test_setup(test_cast_lost, set_place),
    };

    place = shared_memory(sizeof(*place));
    if (argc > 1) {
        cmocka_set_test_filter(argv[1]);
    }
    alarm(440);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
