/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Owns the engine's tests of set-ups in hard times: exchanges that fail, names that resolve
 * slowly, servers that keep back READY, returns after a collapse, and clients with many groups.
 */
/* Test: quick 120; all 120 x10 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <dlfcn.h>
#include <fcntl.h>
#include <netdb.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "client/state/types.h"
#include "tests/engine/fake_server.h"
#include "tests/engine/harness.h"
#include "tests/engine/party.h"
#include "tests/unit/own_network.h"

#define LARGE 100000

static char expected_reason[80];

/* ---- a resolver that takes its time ---- */

#define SLOW_NAME "slow.example"

static unsigned slow_ms;

/* In place of the library's, for everything in this program. */
int getaddrinfo(const char *node, const char *service, const struct addrinfo *hints,
                struct addrinfo **result)
{
    static int (*original)(const char *, const char *, const struct addrinfo *,
                           struct addrinfo **);

    if (NULL == original) {
        *(void **) &original = dlsym(RTLD_NEXT, "getaddrinfo");
    }
    if (0 == strcmp(node, SLOW_NAME)) {
        usleep(slow_ms * 1000);
        node = "127.0.0.1";
    }
    return original(node, service, hints, result);
}

static void slow_list(const test_server_t *server, char *list, size_t size)
{
    snprintf(list, size, SLOW_NAME ":%u", server->port);
}

/* No call into the engine takes as long as the resolver does. */
static void body_slow_names(rank_t *rank)
{
    float one = 1, sum = 0;
    outcome_t outcome;
    uint64_t longest = 0, begin = oc_clock_ns();

    CHECK(OC_OK == rank_start(rank, 0, OC_OP_SUM, OC_TYPE_FLOAT, &one, &sum, 1, &outcome));
    longest = oc_clock_ns() - begin;
    while (!outcome.done && oc_clock_ns() - begin < 20 * OC_SECOND) {
        uint64_t before = oc_clock_ns();

        (void) oc_client_progress(rank->client);
        longest = oc_clock_ns() - before > longest ? oc_clock_ns() - before : longest;
        usleep(200);
    }
    CHECK(outcome.done && OC_OK == outcome.status);
    CHECK((float) rank->num_ranks == sum);
    CHECK(oc_clock_ns() - begin >= slow_ms * OC_MILLISECOND);
    CHECK(longest < slow_ms * OC_MILLISECOND);
}

static void test_slow_names(void **state)
{
    oc_job_settings_t settings;
    test_server_t server;
    char list[80];

    (void) state;
    server_start(&server, NULL);
    slow_list(&server, list, sizeof(list));
    settings = test_settings(list);
    settings.connect_timeout = 15;
    slow_ms = 4000;
    assert_true(ranks_succeed(&server, 2, &settings, body_slow_names, 40));
}

static void body_declined(rank_t *rank)
{
    rank_expect_declined(rank, 0, expected_reason);
    CHECK(0 == oc_client_pending(rank->client));
}

/* Slower than the patience at set-up: declined in time. The end waits for the resolver. */
static void test_slower_names(void **state)
{
    oc_job_settings_t settings;
    test_server_t server;
    char list[80];

    (void) state;
    server_start(&server, NULL);
    slow_list(&server, list, sizeof(list));
    settings = test_settings(list);
    settings.connect_timeout = 1;
    slow_ms = 3000;
    snprintf(expected_reason, sizeof(expected_reason), "not resolved within 1 seconds");
    assert_true(ranks_succeed(&server, 2, &settings, body_declined, 20));
}

/* ---- READY ---- */

static void with_fake(fake_t behaviour, const char *reason, void (*body)(rank_t *rank))
{
    oc_job_settings_t settings;
    fake_server_t server;
    unsigned failed;

    fake_server_start(&server, behaviour);
    settings = test_settings(server.address);
    settings.connect_timeout = 1;
    snprintf(expected_reason, sizeof(expected_reason), "%s", reason);
    failed = ranks_run(2, &settings, body, 20);
    fake_server_stop(&server);
    assert_int_equal(failed, 0);
}

static void test_no_ready(void **state)
{
    (void) state;
    with_fake(FAKE_SILENT, "did not answer within 1 seconds", body_declined);
}

/*
 * There is one reply handle left. Groups that were declined need none, however long they exist; and
 * what is late for one of them does not meet the next one.
 */
static void body_last_handle(rank_t *rank)
{
    uint32_t handle, last = OC_HANDLES_MAX - 1;

    (void) rank_group(rank, 0);
    while (last > 0 && oc_handles_take(rank->client->handles, &handle)) {
        last--;
    }
    CHECK(0 == last);
    for (unsigned group = 0; group < 3; group++) {
        rank_expect_declined(rank, group, expected_reason);
        CHECK(0 == group
              || rank->groups[group]->servers->reply_handle
                     != rank->groups[group - 1]->servers->reply_handle);
    }
}

static void test_last_handle(void **state)
{
    (void) state;
    with_fake(FAKE_SILENT, "did not answer within 1 seconds", body_last_handle);
}

static void test_wrong_ready(void **state)
{
    (void) state;
    with_fake(FAKE_OTHER, "sent something else than READY", body_declined);
    /* whoever made that is not the server, whose READY may still come */
    with_fake(FAKE_SHORT, "did not answer within", body_declined);
}

static void body_crowded(rank_t *rank)
{
    uint64_t end = oc_clock_ns() + 8 * OC_SECOND;
    static outcome_t outcome;
    static float one = 1, sum;

    (void) rank_start(rank, 0, OC_OP_SUM, OC_TYPE_FLOAT, &one, &sum, 1, &outcome);
    while (OC_GROUP_LIVE != oc_group_state(rank->groups[0])) {
        CHECK(oc_clock_ns() < end);
        CHECK(OC_GROUP_DECLINED != oc_group_state(rank->groups[0]));
        (void) oc_client_progress(rank->client);
        usleep(100);
    }
    /* its collective never ends: it goes with the client */
    rank->groups[0] = NULL;
}

/* A network in which a SYN is sent again after 1, 3 and 7 seconds, as older systems do it. */
static int enter_old_network(void)
{
    int before = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
    FILE *setting;

    if (before < 0 || 0 != geteuid() || !own_network_enter()) {
        skip();
    }
    setting = fopen("/proc/sys/net/ipv4/tcp_syn_linear_timeouts", "we");
    if (NULL != setting) {
        fprintf(setting, "0\n");
        fclose(setting);
    }
    return before;
}

/* The time for the set-up is over after 5 seconds, and there has been room since 3.5. */
static void test_crowded(void **state)
{
    oc_job_settings_t settings;
    fake_server_t server;
    unsigned failed;
    int before = enter_old_network();

    (void) state;
    fake_server_start(&server, FAKE_CROWDED);
    settings = test_settings(server.address);
    settings.connect_timeout = 5;
    failed = ranks_run(2, &settings, body_crowded, 20);
    fake_server_stop(&server);
    assert_int_equal(setns(before, CLONE_NEWNET), 0);
    close(before);
    assert_int_equal(failed, 0);
}

/* Starts what will never finish, and waits until the group is live. */
static void make_live(rank_t *rank, unsigned group)
{
    static float send[LARGE], recv[LARGE], few[4];
    static outcome_t outcomes[3];
    uint64_t end = oc_clock_ns() + 5 * OC_SECOND;

    (void) rank_start(rank, group, OC_OP_SUM, OC_TYPE_FLOAT, send, few, 4, &outcomes[0]);
    (void) rank_start(rank, group, OC_OP_SUM, OC_TYPE_FLOAT, send, recv, LARGE, &outcomes[1]);
    (void) rank_start(rank, group, OC_OP_SUM, OC_TYPE_FLOAT, recv, recv, LARGE, &outcomes[2]);
    while (OC_GROUP_LIVE != oc_group_state(rank->groups[group])) {
        CHECK(oc_clock_ns() < end);
        (void) oc_client_progress(rank->client);
        usleep(100);
    }
    CHECK(!outcomes[0].done && !outcomes[1].done && !outcomes[2].done);
}

static void body_left_behind(rank_t *rank)
{
    static float one = 1, sum;
    static outcome_t outcome;

    make_live(rank, 0);
    for (int i = 0; i < 100; i++) {
        (void) oc_client_progress(rank->client);
        usleep(500);
    }
    rank_barrier(rank);
    /* one more in the middle of its set-up, and one that is new */
    atomic_store(&rank->shared->boards[1].hold, 1);
    (void) rank_start(rank, 1, OC_OP_SUM, OC_TYPE_FLOAT, &one, &sum, 1, &outcome);
    (void) rank_group(rank, 2);
    memset(rank->groups, 0, sizeof(rank->groups));
}

/* The groups are never destroyed: the client takes them with it, and leaves no memory. */
static void test_groups_left_behind(void **state)
{
    (void) state;
    with_fake(FAKE_READY, "", body_left_behind);
}

/* None of them counts; the true one, behind them, does. */
static void body_forged_ready(rank_t *rank)
{
    make_live(rank, 0);
    CHECK(FORGED_READIES == rank->counters.replies_forged);
    CHECK((size_t) rank->settings.chunk_size == rank->groups[0]->servers->chunk_bytes);
    rank_barrier(rank);
    memset(rank->groups, 0, sizeof(rank->groups));
}

static void test_forged_ready(void **state)
{
    (void) state;
    with_fake(FAKE_FORGED, "", body_forged_ready);
}

/* What a server says of a group that has left is nobody's business any more. */
static void body_late_refusal(rank_t *rank)
{
    make_live(rank, 0);
    rank_expect_declined(rank, 1, expected_reason);
    for (int i = 0; i < 300; i++) {
        (void) oc_client_progress(rank->client);
        usleep(1000);
    }
    CHECK(OC_GROUP_LIVE == oc_group_state(rank->groups[0]));
    rank_barrier(rank);
    memset(rank->groups, 0, sizeof(rank->groups));
}

static void test_late_refusal(void **state)
{
    (void) state;
    with_fake(FAKE_LATE_REFUSAL, "did not answer within 1 seconds", body_late_refusal);
}

/* ---- exchanges that fail ---- */

static outcome_t one_outcome;

static void on_finished(void *arg, oc_status_t status)
{
    *(outcome_t *) arg = (outcome_t) {.done = true, .status = status};
}

static oc_status_t start_one(oc_group_t *group, float *vector)
{
    oc_allreduce_args_t args = {.send = vector, .recv = vector, .count = 1, .op = OC_OP_SUM,
                                .type = OC_TYPE_FLOAT, .finished = on_finished,
                                .arg = &one_outcome};

    one_outcome = (outcome_t) {0};
    return oc_allreduce_start(group, &args);
}

static int broken_start, broken_test;

/* It ends at once and stays so; the bootstrap is given back. */
static void body_broken_exchange(rank_t *rank)
{
    party_t party = {.board = &rank->shared->boards[5], .job = &rank->job,
                     .num_ranks = rank->num_ranks, .rank = rank->rank,
                     .broken_start = broken_start, .broken_test = broken_test};
    oc_group_t *group = party_group(&party, rank->client, "broken");
    float one = 1, sum = 0;
    oc_status_t status = start_one(group, &one);

    CHECK((1 == broken_start) == (status < 0));
    if (OC_OK == status) {
        CHECK(rank_wait(rank, &one_outcome, 1, 8));
        CHECK(one_outcome.status < 0);
    }
    CHECK(OC_GROUP_FAILED == oc_group_state(group));
    CHECK(NULL != strstr(oc_group_reason(group), expected_reason));
    CHECK(0 == oc_client_pending(rank->client));
    CHECK(start_one(group, &one) < 0);
    CHECK(1 == party.begun && 1 == party.ended);
    oc_group_destroy(group);
    /* other groups are as well as before */
    one = 1;
    CHECK(OC_OK == rank_allreduce(rank, 0, OC_OP_SUM, OC_TYPE_FLOAT, &one, &sum, 1));
    CHECK((float) rank->num_ranks == sum);
}

static void with_broken_exchange(int start, int test, const char *reason)
{
    oc_job_settings_t settings;
    test_server_t server;

    server_start(&server, NULL);
    settings = test_settings(server.address);
    broken_start = start;
    broken_test = test;
    snprintf(expected_reason, sizeof(expected_reason), "%s", reason);
    assert_true(ranks_succeed(&server, 2, &settings, body_broken_exchange, 20));
}

static void test_broken_exchange(void **state)
{
    (void) state;
    with_broken_exchange(1, 0, "exchange between the ranks cannot be started");
    with_broken_exchange(2, 0, "vote of the ranks cannot be started");
    with_broken_exchange(0, 1, "exchange between the ranks failed");
    with_broken_exchange(0, 2, "exchange between the ranks failed");
}

/* ---- coming back ---- */

/*
 * The job fails on its server, and one rank does not look there for a while: the process that
 * served it stays for that rank, and turns the others away.
 */
static void body_returns(rank_t *rank)
{
    static const uint32_t members[] = {0, 1};
    party_t party = {.board = &rank->shared->boards[5], .job = &rank->job, .num_ranks = 2,
                     .rank = rank->rank, .members = members};
    float vector[4] = {1, 1, 1, 1}, sum[4];
    bool odd = 1 == rank->rank;
    oc_group_t *group;

    CHECK(OC_OK == rank_allreduce(rank, 0, OC_OP_SUM, OC_TYPE_FLOAT, vector, sum, 4));
    if (2 == rank->rank) {
        outcome_t outcome;

        (void) rank_start(rank, 0, OC_OP_SUM, OC_TYPE_FLOAT, vector, sum, 4, &outcome);
        for (int i = 0; i < 20; i++) {
            (void) oc_client_progress(rank->client);
            usleep(500);
        }
        usleep(1500000);
        CHECK(rank_wait(rank, &outcome, 1, 8));
        CHECK(outcome.status < 0);
        return;
    }
    usleep(100000);
    CHECK(rank_allreduce(rank, 0, OC_OP_SUM, OC_TYPE_FLOAT, vector, sum, odd ? 3 : 4) < 0);
    group = party_group(&party, rank->client, "again");
    CHECK(OC_OK == start_one(group, vector));
    CHECK(rank_wait(rank, &one_outcome, 1, 8));
    CHECK(OC_OK == one_outcome.status);
    CHECK(2 == vector[0]);
    oc_group_destroy(group);
}

static void test_returns(void **state)
{
    oc_job_settings_t settings;
    test_server_t server;

    (void) state;
    server_start(&server, NULL);
    settings = test_settings(server.address);
    assert_true(ranks_succeed(&server, 3, &settings, body_returns, 20));
}

/*
 * Rank 0 has joined and voted when the job's process dies; rank 1 joins the next one. Nobody is
 * missing in the vote, but the group is in two halves: both ranks learn it.
 */
static void body_two_halves(rank_t *rank)
{
    board_t *board = &rank->shared->boards[0];
    float one = 1, sum = 0;
    uint64_t end = oc_clock_ns() + 10 * OC_SECOND;
    outcome_t outcome;

    (void) rank_start(rank, 0, OC_OP_SUM, OC_TYPE_FLOAT, &one, &sum, 1, &outcome);
    while (0 == rank->rank && 0 == atomic_load(&board->given[1][0])) {
        CHECK(oc_clock_ns() < end);
        (void) oc_client_progress(rank->client);
    }
    if (0 == rank->rank) {
        atomic_store(&rank->shared->operations, 1);
    }
    while (0 == atomic_load(&rank->shared->signal)) {
        CHECK(oc_clock_ns() < end);
        usleep(1000);
    }
    for (int i = 0; 0 == rank->rank && i < 200; i++) {
        (void) oc_client_progress(rank->client);
        usleep(1000);
    }
    /* this barrier, unlike the harness's, moves nothing on */
    atomic_fetch_add(&rank->shared->boards[7].given[0][rank->rank], 1);
    while (0 == atomic_load(&rank->shared->boards[7].given[0][0])) {
        CHECK(oc_clock_ns() < end);
        usleep(1000);
    }
    CHECK(rank_wait(rank, &outcome, 1, 8));
    CHECK(outcome.status < 0);
    CHECK(OC_GROUP_FAILED == oc_group_state(rank->groups[0]));
    CHECK(0 == rank->rank
          || NULL != strstr(oc_group_reason(rank->groups[0]), "rank 0 lost its connection"));
}

static void test_two_halves(void **state)
{
    oc_job_settings_t settings;
    test_server_t server;
    ranks_t ranks;
    unsigned failed;
    bool reached;
    pid_t data;

    (void) state;
    server_start(&server, NULL);
    settings = test_settings(server.address);
    ranks_start(&ranks, 2, &settings, body_two_halves, 30);
    reached = ranks_reach(&ranks, 1);
    data = server_data_process(&server);
    (void) kill(data, SIGKILL);
    atomic_store(&ranks.shared->signal, 1);
    failed = ranks_wait(&ranks);
    assert_int_equal(server_stop(&server), 0);
    assert_true(reached && data > 0);
    assert_int_equal(failed, 0);
}

static void wait_for_signal(rank_t *rank, int value)
{
    uint64_t end = oc_clock_ns() + 15 * OC_SECOND;

    while (atomic_load(&rank->shared->signal) < value) {
        CHECK(oc_clock_ns() < end);
        (void) oc_client_progress(rank->client);
        usleep(1000);
    }
}

/* Its group is declined because the server is slow; it ends without having been welcomed. */
static void body_never_welcomed(rank_t *rank)
{
    party_t party = {.board = &rank->shared->boards[6], .job = &rank->job, .num_ranks = 1};
    oc_group_t *group;
    float one = 1;

    wait_for_signal(rank, 1);
    group = party_group(&party, rank->client, "late");
    CHECK(OC_OK == start_one(group, &one));
    CHECK(rank_wait(rank, &one_outcome, 1, 10));
    CHECK(OC_DECLINED == one_outcome.status);
    oc_group_destroy(group);
    oc_client_destroy(rank->client);
    atomic_fetch_add(&rank->shared->operations, 1);
    exit(EXIT_SUCCESS);
}

/* The others do not notice. */
static void body_beside_unwelcome(rank_t *rank)
{
    party_t party = {.board = &rank->shared->boards[5], .job = &rank->job, .num_ranks = 2,
                     .rank = rank->rank};
    oc_group_t *group;

    if (2 == rank->rank) {
        body_never_welcomed(rank);
    }
    rank->num_ranks--;   /* of the barrier at the end */
    group = party_group(&party, rank->client, "lasting");
    for (int i = 0; i < 40; i++) {
        float one = 1;

        CHECK(OC_OK == start_one(group, &one));
        CHECK(rank_wait(rank, &one_outcome, 1, 10));
        CHECK(OC_OK == one_outcome.status);
        CHECK(2 == one);
        if (0 == i) {
            atomic_fetch_add(&rank->shared->operations, 1);
            wait_for_signal(rank, 2);
        }
        usleep(20000);
    }
    oc_group_destroy(group);
}

static void test_never_welcomed(void **state)
{
    oc_job_settings_t settings;
    test_server_t server;
    ranks_t ranks;
    unsigned failed;
    bool reached;
    pid_t data;

    (void) state;
    server_start(&server, NULL);
    settings = test_settings(server.address);
    settings.connect_timeout = 2;
    settings.heartbeat_timeout = 15;
    ranks_start(&ranks, 3, &settings, body_beside_unwelcome, 40);
    reached = ranks_reach(&ranks, 2);
    data = server_data_process(&server);
    (void) kill(data, SIGSTOP);
    atomic_store(&ranks.shared->signal, 1);
    reached = reached && ranks_reach(&ranks, 3);
    (void) kill(data, SIGCONT);
    atomic_store(&ranks.shared->signal, 2);
    failed = ranks_wait(&ranks);
    assert_int_equal(server_stop(&server), 0);
    assert_true(reached && data > 0);
    assert_int_equal(failed, 0);
}

/* ---- many groups ---- */

#define MANY  10000
#define BATCH 50

static oc_exchange_t alone_exchange[MANY];
static float alone_vector[MANY];
static outcome_t alone_outcomes[MANY];
static oc_group_t *alone_groups[MANY];
static const oc_job_t *alone_identity;

static oc_status_t alone_job(void *context, oc_job_t *job)
{
    (void) context;
    *job = *alone_identity;
    return OC_OK;
}

static oc_status_t alone_begin(void *context, const oc_exchange_t *exchange)
{
    *(oc_exchange_t *) context = *exchange;
    return OC_OK;
}

static oc_status_t alone_start(void *context, oc_exchange_step_t step)
{
    const oc_exchange_t *exchange = context;

    if (OC_EXCHANGE_RECORDS == step) {
        memcpy(exchange->records, exchange->record, exchange->size);
    } else {
        memcpy(exchange->outcome, exchange->vote, OC_VOTE_WORDS * sizeof(*exchange->vote));
    }
    return OC_OK;
}

static oc_status_t alone_test(void *context)
{
    (void) context;
    return OC_OK;
}

static void alone_end(void *context)
{
    (void) context;
}

static const oc_bootstrap_t alone = {.job = alone_job, .begin = alone_begin,
                                     .start = alone_start, .test = alone_test, .end = alone_end};

static void start_alone(rank_t *rank, unsigned number)
{
    oc_group_params_t params = {.num_ranks = 1, .lowest_on_host = true,
                                .max_hosts = 1, .name = "alone", .bootstrap = &alone,
                                .context = &alone_exchange[number]};
    oc_allreduce_args_t args = {.send = &alone_vector[number], .recv = &alone_vector[number],
                                .count = 1, .op = OC_OP_SUM, .type = OC_TYPE_FLOAT,
                                .finished = on_finished, .arg = &alone_outcomes[number]};

    alone_vector[number] = (float) number;
    alone_outcomes[number] = (outcome_t) {0};
    CHECK(OC_OK == oc_group_create(rank->client, &params, &alone_groups[number]));
    CHECK(OC_OK == oc_allreduce_start(alone_groups[number], &args));
}

/* Sets up a batch of groups; ns for each. */
static uint64_t set_up_batch(rank_t *rank, unsigned first)
{
    uint64_t begin = oc_clock_ns();

    for (unsigned i = first; i < first + BATCH; i++) {
        start_alone(rank, i);
    }
    CHECK(rank_wait(rank, &alone_outcomes[first], BATCH, 10));
    for (unsigned i = first; i < first + BATCH; i++) {
        CHECK(OC_OK == alone_outcomes[i].status && (float) i == alone_vector[i]);
        CHECK(OC_GROUP_LIVE == oc_group_state(alone_groups[i]));
    }
    return (oc_clock_ns() - begin) / BATCH;
}

/* This process's time on processors: what others do to the machine hardly counts. */
static uint64_t worked_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (uint64_t) now.tv_sec * OC_SECOND + (uint64_t) now.tv_nsec;
}

static void body_many_groups(rank_t *rank)
{
    uint64_t begin = worked_ns(), early = 0, late = 0;

    alone_identity = &rank->job;
    for (unsigned i = 0; i < MANY; i += BATCH) {
        uint64_t before = worked_ns(), each = set_up_batch(rank, i);

        early += i < MANY / 5 ? worked_ns() - before : 0;
        late += i >= MANY - MANY / 5 ? worked_ns() - before : 0;
        if (BATCH == i || 1000 == i || 5000 == i || MANY - BATCH == i) {
            printf("set-up of a group beside %u others: %.0f us\n", i, (double) each / 1e3);
        }
    }
    printf("%d groups: %.2f s of work; the first fifth %.2f s, the last %.2f s\n", MANY,
           (double) (worked_ns() - begin) / 1e9, (double) early / 1e9, (double) late / 1e9);
    CHECK(2 * late < 3 * early);
    for (unsigned i = 0; i < MANY; i++) {
        oc_group_destroy(alone_groups[i]);
    }
    /* the handles are free again, and service is there */
    (void) set_up_batch(rank, 0);
    for (unsigned i = 0; i < BATCH; i++) {
        oc_group_destroy(alone_groups[i]);
    }
}

static void test_many_groups(void **state)
{
    oc_job_settings_t settings;
    test_server_t server;

    (void) state;
    server_start(&server, NULL);
    settings = test_settings(server.address);
    assert_true(ranks_succeed(&server, 1, &settings, body_many_groups, 60));
}

int main(int argc, char **argv)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_slow_names),
        cmocka_unit_test(test_slower_names),
        cmocka_unit_test(test_no_ready),
        cmocka_unit_test(test_last_handle),
        cmocka_unit_test(test_wrong_ready),
        cmocka_unit_test(test_forged_ready),
        cmocka_unit_test(test_crowded),
        cmocka_unit_test(test_groups_left_behind),
        cmocka_unit_test(test_late_refusal),
        cmocka_unit_test(test_broken_exchange),
        cmocka_unit_test(test_returns),
        cmocka_unit_test(test_two_halves),
        cmocka_unit_test(test_never_welcomed),
        cmocka_unit_test(test_many_groups),
    };

    if (argc > 1) {
        cmocka_set_test_filter(argv[1]);
    }
    alarm(440);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
