/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Owns the engine's tests of everything that goes wrong: whoever dies, stops or disagrees, every
 * rank learns it within seconds, with a reason, and nobody hangs.
 */
/* Test: quick 120 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <arpa/inet.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "tests/engine/harness.h"

#define MANY 70 /* more than run at a time */
#define LARGE (1u << 18)   /* floats */
#define SMALL 64

static float large_send[LARGE], large_recv[LARGE];
static float small_send[SMALL], small_recv[SMALL];

/*
 * What the reasons of a test have to name, on every rank: a rank that gives up says why, and its
 * other servers pass that on. Set before the ranks are forked.
 */
static char expected_name[80];

/* ---- bodies ---- */

static oc_status_t run_until_error(rank_t *rank, unsigned seconds)
{
    uint64_t end = oc_clock_ns() + seconds * OC_SECOND;
    oc_status_t status = OC_OK;

    for (unsigned i = 0; OC_OK == status && oc_clock_ns() < end; i++) {
        if (i % 4 < 3) {
            status = rank_allreduce(rank, 0, OC_OP_SUM, OC_TYPE_FLOAT, large_send, large_recv,
                                    LARGE);
        } else {
            status = rank_allreduce(rank, 0, OC_OP_SUM, OC_TYPE_FLOAT, small_send, small_recv,
                                    SMALL);
        }
    }
    return status;
}

static void check_failed(rank_t *rank, oc_status_t status)
{
    outcome_t outcome;

    CHECK(status < 0);
    CHECK(OC_GROUP_FAILED == oc_group_state(rank->groups[0]));
    if (NULL != strstr(oc_group_reason(rank->groups[0]), expected_name)) {
        atomic_fetch_add(&rank->shared->operations, 1000000);
    }
    rank_barrier(rank);
    CHECK(atomic_load(&rank->shared->operations) / 1000000 >= rank->num_ranks);
    /* it stays so */
    CHECK(rank_start(rank, 0, OC_OP_SUM, OC_TYPE_FLOAT, small_send, small_recv, SMALL, &outcome)
          < 0);
}

static void body_until_error(rank_t *rank)
{
    check_failed(rank, run_until_error(rank, 12));
    CHECK(0 == oc_client_pending(rank->client));
}

/* Many under way at once: each of them ends, and none with a success that is none. */
static void body_many_until_error(rank_t *rank)
{
    static outcome_t outcomes[40];
    static float recv[40][SMALL];
    oc_status_t status = OC_OK;

    for (unsigned round = 0; round < 100000 && OC_OK == status; round++) {
        for (unsigned i = 0; i < 40; i++) {
            bool large = 0 == i;

            (void) rank_start(rank, 0, OC_OP_SUM, OC_TYPE_FLOAT, large ? large_send : small_send,
                              large ? large_recv : recv[i], large ? LARGE : SMALL, &outcomes[i]);
        }
        CHECK(rank_wait(rank, outcomes, 40, 12));
        for (unsigned i = 0; i < 40; i++) {
            CHECK(OC_DECLINED != outcomes[i].status);
            status = OC_OK == status ? outcomes[i].status : status;
        }
        atomic_fetch_add(&rank->shared->operations, 1);
    }
    check_failed(rank, status);
    CHECK(0 == oc_client_pending(rank->client));
}

/*
 * Vectors that wait for those of others, and behind others: nothing of the last is under way any
 * more when the server dies, and they end as well.
 */
static void body_waiting_until_error(rank_t *rank)
{
    static outcome_t outcomes[4];
    static float recv[4][LARGE];
    float one = 1, sum;
    uint64_t end;

    CHECK(OC_OK == rank_allreduce(rank, 0, OC_OP_SUM, OC_TYPE_FLOAT, &one, &sum, 1));
    for (unsigned i = 0; i < 4 && 0 == rank->rank; i++) {
        CHECK(OC_OK == rank_start(rank, 0, OC_OP_SUM, OC_TYPE_FLOAT, large_send, recv[i], LARGE,
                                  &outcomes[i]));
    }
    end = oc_clock_ns() + 300 * OC_MILLISECOND;
    while (oc_clock_ns() < end) {
        (void) oc_client_progress(rank->client);
        usleep(100);
    }
    atomic_fetch_add(&rank->shared->operations, 1);
    if (0 == rank->rank) {
        CHECK(rank_wait(rank, outcomes, 4, 12));
        for (unsigned i = 0; i < 4; i++) {
            CHECK(outcomes[i].status < 0 && OC_DECLINED != outcomes[i].status);
        }
        CHECK(0 == oc_client_pending(rank->client));
    }
    rank_barrier(rank);
}

/* The server process of the job died, the daemon lives: a new group finds service again. */
/*
 * Groups that are destroyed while their collectives run, or wait for these, as by a program that ends
 * without having waited: nobody is called back, and what UCX still uses stays.
 */
static void body_destroyed_early(rank_t *rank)
{
    static outcome_t outcomes[2][MANY];
    static float recv[LARGE]; /* nothing ends */

    rank_set_up_groups(rank, 2);
    for (unsigned group = 0; group < 2 && 0 != rank->rank; group++) {
        for (unsigned i = 0; i < MANY; i++) {
            bool large = 0 == group || i > 0;

            CHECK(OC_OK == rank_start(rank, group, OC_OP_SUM, OC_TYPE_FLOAT, large_send, recv,
                                      large ? LARGE : SMALL, &outcomes[group][i]));
        }
    }
    rank_linger(rank, 20 * rank->rank);
    for (unsigned group = 0; group < 2; group++) {
        oc_group_destroy(rank->groups[group]);
        rank->groups[group] = NULL;
    }
    rank_linger(rank, 100);
    for (unsigned group = 0; group < 2 && 0 != rank->rank; group++) {
        for (unsigned i = 0; i < MANY; i++) {
            CHECK(!outcomes[group][i].done);
        }
    }
}

static void body_comes_back(rank_t *rank)
{
    float one = 1, sum = 0;

    check_failed(rank, run_until_error(rank, 12));
    rank_barrier(rank);
    usleep(300000);
    CHECK(OC_OK == rank_allreduce(rank, 1, OC_OP_SUM, OC_TYPE_FLOAT, &one, &sum, 1));
    CHECK((float) rank->num_ranks == sum);
    CHECK(OC_GROUP_LIVE == oc_group_state(rank->groups[1]));
}

/* A second group waits for the records of the others when the first one loses its service. */
static void body_loses_while_exchanging(rank_t *rank)
{
    float one = 1, sum = 0;
    outcome_t outcome;

    atomic_store(&rank->shared->boards[1].hold, 1);
    rank_barrier(rank);
    CHECK(OC_OK == rank_allreduce(rank, 0, OC_OP_SUM, OC_TYPE_FLOAT, &one, &sum, 1));
    (void) rank_start(rank, 1, OC_OP_SUM, OC_TYPE_FLOAT, &one, &sum, 1, &outcome);
    check_failed(rank, run_until_error(rank, 12));
    rank_barrier(rank);
    atomic_store(&rank->shared->boards[1].hold, 0);
    CHECK(rank_wait(rank, &outcome, 1, 12));
    rank_barrier(rank);
    /* whatever it is, it is the same on all ranks */
    atomic_store(&rank->shared->boards[7].given[0][rank->rank],
                 (unsigned) (outcome.status + 100));
    rank_barrier(rank);
    CHECK(atomic_load(&rank->shared->boards[7].given[0][0]) == (unsigned) (outcome.status + 100));
}

static void check_declined(rank_t *rank, const char *const *reasons)
{
    bool known = false;
    outcome_t outcome;

    CHECK(OC_DECLINED == rank_allreduce(rank, 0, OC_OP_SUM, OC_TYPE_FLOAT, small_send, small_recv,
                                        SMALL));
    CHECK(OC_GROUP_DECLINED == oc_group_state(rank->groups[0]));
    CHECK(OC_DECLINED == rank_start(rank, 0, OC_OP_SUM, OC_TYPE_FLOAT, small_send, small_recv,
                                    SMALL, &outcome));
    CHECK('\0' != oc_group_reason(rank->groups[0])[0]);
    for (; NULL != *reasons && oc_group_tells(rank->groups[0]); reasons++) {
        known = known || NULL != strstr(oc_group_reason(rank->groups[0]), *reasons);
    }
    CHECK(known || !oc_group_tells(rank->groups[0]));
    /* exactly one tells */
    if (oc_group_tells(rank->groups[0])) {
        atomic_fetch_add(&rank->shared->operations, 1000);
    }
    rank_barrier(rank);
    CHECK(1 == atomic_load(&rank->shared->operations) / 1000);
    CHECK(0 == rank->counters.groups);
}

static void body_declined(rank_t *rank)
{
    const char *reasons[] = {expected_name, NULL};

    check_declined(rank, reasons);
}

static void body_wrong_key(rank_t *rank)
{
    const char *reasons[] = {"key", NULL};

    if (1 == rank->rank) {
        rank->job.key[OC_JOB_KEY_SIZE - 1] ^= 1;
    }
    check_declined(rank, reasons);
}

static void body_other_settings(rank_t *rank)
{
    const char *reasons[] = {"settings", NULL};

    rank->settings.window += 2 == rank->rank;
    check_declined(rank, reasons);
}

static void body_other_job(rank_t *rank)
{
    const char *reasons[] = {"job", NULL};

    rank->job.id[3] ^= 2 == rank->rank;
    check_declined(rank, reasons);
}

/* The last rank wants something else, after some operations on which all agreed. */
static void disagree(rank_t *rank, unsigned op, size_t count, unsigned other_op,
                     size_t other_count)
{
    bool odd = rank->rank + 1 == rank->num_ranks;
    oc_status_t status = OC_OK;

    for (int i = 0; i < 3 && OC_OK == status; i++) {
        status = rank_allreduce(rank, 0, OC_OP_SUM, OC_TYPE_FLOAT, large_send, large_recv, 5000);
    }
    CHECK(OC_OK == status);
    status = rank_allreduce(rank, 0, odd ? other_op : op, OC_TYPE_FLOAT, large_send, large_recv,
                            odd ? other_count : count);
    check_failed(rank, status);
    if (NULL != strstr(oc_group_reason(rank->groups[0]), "disagree")) {
        atomic_store(&rank->shared->signal, 1);
    }
    /* with several servers the end of one rank may reach another before the reason does */
    rank_barrier(rank);
    CHECK(0 != atomic_load(&rank->shared->signal));
}

static void body_small_counts(rank_t *rank)
{
    disagree(rank, OC_OP_SUM, 10, OC_OP_SUM, 11);
}

static void body_large_counts(rank_t *rank)
{
    disagree(rank, OC_OP_SUM, 50000, OC_OP_SUM, 50001);
}

static void body_ops(rank_t *rank)
{
    disagree(rank, OC_OP_SUM, 50000, OC_OP_MAX, 50000);
}

static void body_small_and_large(rank_t *rank)
{
    disagree(rank, OC_OP_SUM, 10, OC_OP_SUM, 200000);
}

static void body_chunks(rank_t *rank)
{
    disagree(rank, OC_OP_SUM, 2000, OC_OP_SUM, 200000);
}

/* The last rank goes without a word, in the middle of an operation. */
static void body_one_exits(rank_t *rank)
{
    outcome_t outcome;

    for (int i = 0; i < 3; i++) {
        CHECK(OC_OK == rank_allreduce(rank, 0, OC_OP_SUM, OC_TYPE_FLOAT, large_send, large_recv,
                                      LARGE));
    }
    if (rank->rank + 1 == rank->num_ranks) {
        (void) rank_start(rank, 0, OC_OP_SUM, OC_TYPE_FLOAT, large_send, large_recv, LARGE,
                          &outcome);
        for (int i = 0; i < 50; i++) {
            (void) oc_client_progress(rank->client);
        }
        _exit(EXIT_SUCCESS);
    }
    rank->num_ranks--;   /* of the barrier from now on */
    check_failed(rank, run_until_error(rank, 12));
}

/* ---- tests ---- */

static oc_job_settings_t quick_settings(const char *servers)
{
    oc_job_settings_t settings = test_settings(servers);

    settings.heartbeat_timeout = 2;
    settings.connect_timeout = 3;
    return settings;
}

typedef enum { KILL_DATA, KILL_SUPERVISOR, STOP_DATA, STOP_SUPERVISOR } fault_t;

static void strike(test_server_t *server, fault_t fault, pid_t data)
{
    switch (fault) {
    case KILL_DATA:
        (void) kill(data, SIGKILL);
        break;
    case KILL_SUPERVISOR:
        (void) kill(server->pid, SIGKILL);
        break;
    case STOP_DATA:
        (void) kill(data, SIGSTOP);
        break;
    case STOP_SUPERVISOR:
        (void) kill(server->pid, SIGSTOP);
    }
}

static void with_fault(fault_t fault, unsigned num_servers, void (*body)(rank_t *rank),
                       unsigned operations)
{
    const char *options[] = {"--aggregators", "2", NULL};
    oc_job_settings_t settings;
    test_server_t servers[2];
    char list[160];
    ranks_t ranks;
    pid_t data;
    bool reached;
    unsigned failed;

    for (unsigned i = 0; i < num_servers; i++) {
        server_start(&servers[i], options);
    }
    snprintf(list, sizeof(list), "%s%s%s", servers[0].address, num_servers > 1 ? "," : "",
             num_servers > 1 ? servers[1].address : "");
    settings = quick_settings(list);
    settings.recovery = 0;
    snprintf(expected_name, sizeof(expected_name), "%s", servers[num_servers - 1].address);
    ranks_start(&ranks, 3, &settings, body, 40);
    reached = ranks_reach(&ranks, operations);
    data = server_data_process(&servers[num_servers - 1]);
    usleep(3000);
    strike(&servers[num_servers - 1], fault, data);
    failed = ranks_wait(&ranks);
    if (STOP_DATA == fault) {
        (void) kill(data, SIGCONT);
    }
    for (unsigned i = 0; i < num_servers; i++) {
        (void) server_stop(&servers[i]);
    }
    /* with the daemon its processes end: nothing is left behind */
    for (int i = 0; i < 500 && 0 == kill(data, 0); i++) {
        usleep(10000);
    }
    assert_int_not_equal(kill(data, 0), 0);
    assert_true(reached);
    assert_true(data > 0);
    assert_int_equal(failed, 0);
}

static void test_data_process_killed(void **state)
{
    (void) state;
    with_fault(KILL_DATA, 1, body_until_error, 20);
}

static void test_many_in_flight_killed(void **state)
{
    (void) state;
    with_fault(KILL_DATA, 1, body_many_until_error, 6);
}

static void test_waiting_killed(void **state)
{
    (void) state;
    with_fault(KILL_DATA, 1, body_waiting_until_error, 3);
}

static void test_second_server_killed(void **state)
{
    (void) state;
    with_fault(KILL_DATA, 2, body_until_error, 20);
}

static void test_supervisor_killed(void **state)
{
    (void) state;
    with_fault(KILL_SUPERVISOR, 1, body_until_error, 20);
}

static void test_data_process_stopped(void **state)
{
    (void) state;
    with_fault(STOP_DATA, 1, body_until_error, 20);
}

static void test_supervisor_stopped(void **state)
{
    (void) state;
    with_fault(STOP_SUPERVISOR, 1, body_until_error, 20);
}

static void test_destroyed_early(void **state)
{
    const char *options[] = {"--aggregators", "2", NULL};
    oc_job_settings_t settings;
    test_server_t server;

    (void) state;
    server_start(&server, options);
    settings = test_settings(server.address);
    assert_true(ranks_succeed(&server, 3, &settings, body_destroyed_early, 12));
}

static void test_service_comes_back(void **state)
{
    (void) state;
    with_fault(KILL_DATA, 1, body_comes_back, 20);
}

static void test_lost_while_exchanging(void **state)
{
    (void) state;
    with_fault(KILL_DATA, 1, body_loses_while_exchanging, 20);
}

static void with_server(uint32_t num_ranks, const char *name, void (*body)(rank_t *rank))
{
    const char *options[] = {"--aggregators", "2", NULL};
    oc_job_settings_t settings;
    test_server_t server;

    server_start(&server, options);
    settings = quick_settings(server.address);
    snprintf(expected_name, sizeof(expected_name), "%s", NULL != name ? name : server.address);
    assert_true(ranks_succeed(&server, num_ranks, &settings, body, 30));
}

static void test_wrong_key(void **state)
{
    (void) state;
    with_server(3, NULL, body_wrong_key);
}

static void test_ranks_disagree(void **state)
{
    (void) state;
    with_server(3, NULL, body_small_counts);
    with_server(3, NULL, body_large_counts);
    with_server(2, NULL, body_ops);
    with_server(3, NULL, body_small_and_large);
    with_server(3, NULL, body_chunks);
}

static void test_ranks_disagree_embedded(void **state)
{
    oc_job_settings_t settings = quick_settings("embedded:2");

    (void) state;
    snprintf(expected_name, sizeof(expected_name), "embedded in process");
    assert_int_equal(ranks_run(3, &settings, body_large_counts, 30), 0);
    assert_int_equal(ranks_run(3, &settings, body_small_and_large, 30), 0);
}

static void test_rank_exits(void **state)
{
    (void) state;
    with_server(3, "process 2", body_one_exits);
}

static void test_rank_exits_embedded(void **state)
{
    oc_job_settings_t settings = quick_settings("embedded:1");

    (void) state;
    snprintf(expected_name, sizeof(expected_name), "process 2");
    assert_int_equal(ranks_run(3, &settings, body_one_exits, 30), 0);
}

/* With it goes one of the embedded servers. */
static void test_rank_with_server_exits(void **state)
{
    oc_job_settings_t settings = quick_settings("embedded:3");
    unsigned failed;

    (void) state;
    snprintf(expected_name, sizeof(expected_name), "process 2");
    failed = ranks_run(3, &settings, body_one_exits, 30);
    assert_int_equal(failed, 0);
}

static void expect_declined(const char *servers, const char *name, void (*body)(rank_t *rank))
{
    oc_job_settings_t settings = quick_settings(servers);

    settings.connect_timeout = 1;
    snprintf(expected_name, sizeof(expected_name), "%s", name);
    assert_int_equal(ranks_run(3, &settings, body, 20), 0);
}

/* A port on which somebody listens who never says a word, or nobody at all. */
static int silent_port(char *text, size_t size, bool listening)
{
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof(address);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    assert_int_equal(bind(fd, (struct sockaddr *) &address, length), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *) &address, &length), 0);
    if (listening) {
        assert_int_equal(listen(fd, 16), 0);
    }
    snprintf(text, size, "127.0.0.1:%u", ntohs(address.sin_port));
    return fd;
}

static void test_no_server(void **state)
{
    char address[64];
    int fd = silent_port(address, sizeof(address), false);

    (void) state;
    expect_declined(address, address, body_declined);
    close(fd);
    expect_declined("no-such-host.invalid", "no-such-host.invalid", body_declined);
    expect_declined("embedded:0", "embedded:0", body_declined);
    expect_declined("a b", "a b", body_declined);
}

static void test_silent_server(void **state)
{
    char address[64];
    int fd = silent_port(address, sizeof(address), true);

    (void) state;
    expect_declined(address, address, body_declined);
    close(fd);
}

static void test_ranks_do_not_fit(void **state)
{
    (void) state;
    expect_declined("embedded", "", body_other_settings);
    expect_declined("embedded", "", body_other_job);
}

/* A list that names a server twice is the administrator's mistake, not the application's end. */
static void test_server_twice(void **state)
{
    oc_job_settings_t settings;
    test_server_t server;
    char list[160];

    (void) state;
    server_start(&server, NULL);
    snprintf(list, sizeof(list), "%s,%s", server.address, server.address);
    settings = quick_settings(list);
    snprintf(expected_name, sizeof(expected_name), "%s", server.address);
    assert_true(ranks_succeed(&server, 2, &settings, body_declined, 20));
}

/* The smallest chunk from each rank does not fit into an aggregator's memory: said, and declined. */
static void test_memory_limit(void **state)
{
    const char *options[] = {"--memory-limit", "1M", "--aggregators", "64", NULL};
    oc_job_settings_t settings;
    test_server_t server;

    (void) state;
    server_start(&server, options);
    settings = test_settings(server.address);
    settings.connect_timeout = 30;   /* 64 processes that share two processors with other tests */
    snprintf(expected_name, sizeof(expected_name), "--memory-limit");
    assert_true(ranks_succeed(&server, 5, &settings, body_declined, 60));
}

int main(int argc, char **argv)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_data_process_killed),
        cmocka_unit_test(test_many_in_flight_killed),
        cmocka_unit_test(test_waiting_killed),
        cmocka_unit_test(test_second_server_killed),
        cmocka_unit_test(test_supervisor_killed),
        cmocka_unit_test(test_data_process_stopped),
        cmocka_unit_test(test_supervisor_stopped),
        cmocka_unit_test(test_destroyed_early),
        cmocka_unit_test(test_service_comes_back),
        cmocka_unit_test(test_lost_while_exchanging),
        cmocka_unit_test(test_wrong_key),
        cmocka_unit_test(test_ranks_disagree),
        cmocka_unit_test(test_ranks_disagree_embedded),
        cmocka_unit_test(test_rank_exits),
        cmocka_unit_test(test_rank_exits_embedded),
        cmocka_unit_test(test_rank_with_server_exits),
        cmocka_unit_test(test_no_server),
        cmocka_unit_test(test_silent_server),
        cmocka_unit_test(test_ranks_do_not_fit),
        cmocka_unit_test(test_server_twice),
        cmocka_unit_test(test_memory_limit),
    };

    if (argc > 1) {
        cmocka_set_test_filter(argv[1]);
    }
    alarm(960);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
