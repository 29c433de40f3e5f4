/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Owns the test of one aggregator with many clients and groups: 256 clients in one group, and then
 * in 64 groups at the same time. All results are right, and the server keeps to its memory and says
 * how much that was.
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
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "tests/engine/harness.h"

/* Each process has some of the clients: so many processes would be too much for a machine. */
#define CLIENTS 256u
#define WORKERS 8u
#define EACH    (CLIENTS / WORKERS)

/* Group 0 has all clients. Of the others, client c is in number 1 + c % 64. */
#define PARTS   64u
#define MEMBERS (CLIENTS / PARTS)
#define STEPS   3
#define WIDEST  65536u  /* bytes */

#define SECONDS 55u
#define MIB     (1u << 20)
#define LIMIT   (16 * MIB)

/*
 * What the process takes beside the limit once all have come: UCX receives with a buffer of 128 KiB
 * for each client, over TCP, and keeps what comes before it is asked for. In KiB.
 */
#define BESIDE_KIB (CLIENTS * 160)

/* ---- what the processes share ---- */

typedef struct {
    atomic_uint given[STEPS];
    uint8_t records[CLIENTS][OC_RECORD_SIZE];
    int64_t votes[STEPS][CLIENTS][OC_VOTE_WORDS];
} table_t;

typedef struct {
    oc_job_t job;
    atomic_uint arrived, generation;
    atomic_ullong offloaded, failures, set_up_kib, peak_kib;
    table_t tables[1 + PARTS];
} stage_t;

static stage_t *stage;
static test_server_t server;

/* ---- a client and its two groups ---- */

typedef struct {
    table_t *table;
    uint32_t num_ranks, rank;
    oc_exchange_t exchange;
    int step;
    oc_group_t *group;
} seat_t;

typedef struct {
    oc_job_settings_t settings;
    oc_counters_t counters;
    oc_client_t *client;
    seat_t seats[2];
    float *send, *recv;
    outcome_t outcome;
} member_t;

static member_t members[EACH];
static uint32_t worker;

static void __attribute__((noreturn)) worker_failed(int line, const char *what)
{
    fprintf(stderr, "worker %u: test_engine_scale.c:%d: %s is not so\n", worker, line, what);
    for (unsigned i = 0; i < EACH; i++) {
        for (unsigned s = 0; s < 2 && NULL != members[i].client; s++) {
            const oc_group_t *group = members[i].seats[s].group;

            if (NULL != group && '\0' != oc_group_reason(group)[0]) {
                fprintf(stderr, "worker %u: client %u: %s\n", worker, i, oc_group_reason(group));
            }
        }
    }
    _exit(EXIT_FAILURE);
}

#define EXPECT(condition) \
    do { \
        if (!(condition)) { \
            worker_failed(__LINE__, #condition); \
        } \
    } while (0)

static oc_status_t seat_job(void *context, oc_job_t *job)
{
    (void) context;
    *job = stage->job;
    return OC_OK;
}

static oc_status_t seat_begin(void *context, const oc_exchange_t *exchange)
{
    ((seat_t *) context)->exchange = *exchange;
    return OC_OK;
}

static oc_status_t seat_start(void *context, oc_exchange_step_t step)
{
    seat_t *seat = context;
    table_t *table = seat->table;

    seat->step = OC_EXCHANGE_RECORDS == step ? 0 : seat->step + 1;
    if (OC_EXCHANGE_RECORDS == step) {
        memcpy(table->records[seat->rank], seat->exchange.record, OC_RECORD_SIZE);
    } else {
        memcpy(table->votes[seat->step][seat->rank], seat->exchange.vote, sizeof(table->votes[0][0]));
    }
    atomic_fetch_add(&table->given[seat->step], 1);
    return OC_OK;
}

static oc_status_t seat_test(void *context)
{
    seat_t *seat = context;
    const table_t *table = seat->table;

    if (atomic_load(&table->given[seat->step]) < seat->num_ranks) {
        return OC_IN_PROGRESS;
    }
    if (0 == seat->step) {
        memcpy(seat->exchange.records, table->records, (size_t) seat->num_ranks * OC_RECORD_SIZE);
        return OC_OK;
    }
    memcpy(seat->exchange.outcome, seat->exchange.vote, sizeof(table->votes[0][0]));
    for (uint32_t i = 0; i < seat->num_ranks; i++) {
        oc_vote_take(seat->exchange.outcome, table->votes[seat->step][i]);
    }
    return OC_OK;
}

static void seat_end(void *context)
{
    (void) context;
}

static const oc_bootstrap_t bootstrap = {.job = seat_job, .begin = seat_begin,
                                         .start = seat_start, .test = seat_test,
                                         .end = seat_end};

static void sit_down(member_t *member, unsigned which, unsigned number, uint32_t num_ranks,
                     uint32_t rank)
{
    seat_t *seat = &member->seats[which];
    oc_group_params_t params = {.num_ranks = num_ranks, .rank = rank, .name = "crowd",
                                .lowest_on_host = 0 == rank, .max_hosts = 1,
                                .bootstrap = &bootstrap, .context = seat};

    seat->table = &stage->tables[number];
    seat->num_ranks = num_ranks;
    seat->rank = rank;
    EXPECT(OC_OK == oc_group_create(member->client, &params, &seat->group));
}

static uint32_t number_of(unsigned i)
{
    return worker * EACH + i;
}

static void open_members(const oc_job_settings_t *settings)
{
    for (unsigned i = 0; i < EACH; i++) {
        member_t *member = &members[i];
        uint32_t number = number_of(i);
        oc_client_config_t config = {.settings = &member->settings,
                                     .counters = &member->counters, .process = number};

        member->settings = *settings;
        member->send = malloc(WIDEST);
        member->recv = malloc(WIDEST);
        EXPECT(OC_OK == oc_client_create(&config, &member->client));
        sit_down(member, 0, 0, CLIENTS, number);
        sit_down(member, 1, 1 + number % PARTS, MEMBERS, number / PARTS);
    }
}

static void close_members(void)
{
    for (unsigned i = 0; i < EACH; i++) {
        atomic_fetch_add(&stage->offloaded, members[i].counters.allreduce_offloaded);
        atomic_fetch_add(&stage->failures, members[i].counters.failures);
        for (unsigned s = 0; s < 2; s++) {
            oc_group_destroy(members[i].seats[s].group);
        }
        oc_client_destroy(members[i].client);
        free(members[i].send);
        free(members[i].recv);
    }
}

/* ---- operations ---- */

static bool all_done(void)
{
    for (unsigned i = 0; i < EACH; i++) {
        if (!members[i].outcome.done) {
            return false;
        }
    }
    return true;
}

/* All clients take turns; who waits does so for other processes. */
static unsigned progress(void)
{
    unsigned moved = 0;

    for (unsigned i = 0; i < EACH; i++) {
        moved += oc_client_progress(members[i].client);
    }
    if (0 == moved) {
        usleep(50);
    }
    return moved;
}

static void meet(void)
{
    unsigned generation = atomic_load(&stage->generation);

    if (atomic_fetch_add(&stage->arrived, 1) + 1 == WORKERS) {
        atomic_store(&stage->arrived, 0);
        atomic_fetch_add(&stage->generation, 1);
        return;
    }
    while (generation == atomic_load(&stage->generation)) {
        (void) progress();
    }
}

/* Groups compute different things. */
static unsigned seed_of(const seat_t *seat, unsigned round)
{
    return 100 * (unsigned) (seat->table - stage->tables) + round;
}

static void begin(member_t *member, unsigned which, size_t count, unsigned round)
{
    const seat_t *seat = &member->seats[which];
    oc_allreduce_args_t args = {.send = member->send, .recv = member->recv, .count = count,
                                .op = OC_OP_SUM, .type = OC_TYPE_FLOAT,
                                .finished = rank_on_finished, .arg = &member->outcome};

    fill_contribution(member->send, OC_TYPE_FLOAT, count, seat->rank, seed_of(seat, round));
    memset(member->recv, 0x5a, count * sizeof(float));
    member->outcome = (outcome_t) {0};
    EXPECT(OC_OK == oc_allreduce_start(seat->group, &args));
}

/* Every element, on every client; neighbours are in the same group of all, or in different ones. */
static void check(unsigned which, size_t count, unsigned round)
{
    static float expected[WIDEST / sizeof(float)];

    for (unsigned i = 0; i < EACH; i++) {
        const seat_t *seat = &members[i].seats[which];

        if (0 == i || 0 != which) {
            fill_expected(expected, OC_OP_SUM, OC_TYPE_FLOAT, count, seat->num_ranks,
                          seed_of(seat, round));
        }
        EXPECT(OC_OK == members[i].outcome.status);
        EXPECT(0 == memcmp(members[i].recv, expected, count * sizeof(float)));
    }
}

static void operate(unsigned which, size_t count, unsigned round)
{
    for (unsigned i = 0; i < EACH; i++) {
        begin(&members[i], which, count, round);
    }
    while (!all_done()) {
        (void) progress();
    }
    check(which, count, round);
}

/* Small ones of one element and of all that fits, and large ones of some chunks. */
static const size_t counts[] = {1, 1024, 16384, 5000, 2};

#define ROUNDS (sizeof(counts) / sizeof(counts[0]))

/* When all have come so far. */
static void note_memory(atomic_ullong *kib)
{
    meet();
    if (0 == worker) {
        atomic_store(kib, memory_kib_of(server_data_process(&server), "VmHWM"));
    }
    meet();
}

static void __attribute__((noreturn)) work(const oc_job_settings_t *settings)
{
    alarm(SECONDS);
    open_members(settings);
    for (unsigned round = 0; round < ROUNDS; round++) {
        for (unsigned which = 0; which < 2; which++) {
            operate(which, counts[round], round);
        }
        if (0 == round) {
            note_memory(&stage->set_up_kib);
        }
    }
    note_memory(&stage->peak_kib);
    meet();
    close_members();
    exit(EXIT_SUCCESS);
}

static unsigned run_workers(const oc_job_settings_t *settings)
{
    unsigned failed = 0;
    pid_t pids[WORKERS];
    int status;

    fflush(NULL);
    for (worker = 0; worker < WORKERS; worker++) {
        pids[worker] = fork();
        assert_true(pids[worker] >= 0);
        if (0 == pids[worker]) {
            work(settings);
        }
    }
    for (unsigned i = 0; i < WORKERS; i++) {
        failed += pids[i] != waitpid(pids[i], &status, 0) || 0 != status;
    }
    return failed;
}

/* ---- the test ---- */

typedef struct {
    unsigned groups, clients;
    unsigned long long peak, limit;
} report_t;

static bool read_report(report_t *report)
{
    char line[1024];

    while (server_line(&server, line, sizeof(line), 5000)) {
        const char *at = strstr(line, "aggregator 0 served");

        if (NULL != at) {
            return 4 == sscanf(at, "aggregator 0 served %u groups of %u clients, with at most "
                               "%llu of %llu bytes", &report->groups, &report->clients,
                               &report->peak, &report->limit);
        }
    }
    return false;
}

static void crowd(void)
{
    const char *options[] = {"--aggregators", "1", "--memory-limit", "16M", NULL};
    oc_job_settings_t settings;
    report_t report = {0};
    unsigned failed;

    stage = shared_memory(sizeof(*stage));
    fill_random(&stage->job, sizeof(stage->job));
    server_start(&server, options);
    settings = test_settings(server.address);
    settings.connect_timeout = 30;
    settings.heartbeat_timeout = 20;
    settings.window = 8;
    failed = run_workers(&settings);
    assert_true(0 != failed || read_report(&report));
    assert_int_equal(server_stop(&server), 0);
    assert_int_equal(failed, 0);
    print_message("%u groups of %u clients, at most %llu bytes, VmHWM %llu KiB, then %llu KiB\n",
                  report.groups, report.clients, report.peak,
                  (unsigned long long) atomic_load(&stage->set_up_kib),
                  (unsigned long long) atomic_load(&stage->peak_kib));
    assert_int_equal(report.groups, 1 + PARTS);
    assert_int_equal(report.clients, CLIENTS);
    assert_int_equal(report.limit, LIMIT);
    /* at least one chunk of all, and no more than there is */
    assert_in_range(report.peak, CLIENTS * settings.chunk_size, LIMIT);
    assert_int_equal(atomic_load(&stage->offloaded), 2 * ROUNDS * CLIENTS);
    assert_int_equal(atomic_load(&stage->failures), 0);
    assert_true(atomic_load(&stage->set_up_kib) > 0);
    if (MEASURES_MEMORY) {
        assert_true(atomic_load(&stage->peak_kib) - atomic_load(&stage->set_up_kib)
                    < LIMIT / 1024 + BESIDE_KIB);
    }
    munmap(stage, sizeof(*stage));
}

static void test_crowd(void **state)
{
    (void) state;
    crowd();
}

static void test_crowd_tcp(void **state)
{
    (void) state;
    setenv("OPTCAST_UCX_TLS", "tcp", 1);
    setenv("OPTCAST_UCX_NET_DEVICES", "lo", 1);
    crowd();
    unsetenv("OPTCAST_UCX_TLS");
    unsetenv("OPTCAST_UCX_NET_DEVICES");
}

int main(void)
{
    static const struct CMUnitTest tests[] = {cmocka_unit_test(test_crowd),
                                               cmocka_unit_test(test_crowd_tcp)};

    alarm(2 * SECONDS);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
