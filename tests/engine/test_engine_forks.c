/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Owns the tests of children that a rank forks and leaves alone: they keep nothing of the service,
 * so that servers and other ranks see at once when the rank dies, and they disturb nothing.
 */
/* Test: default 90 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <arpa/inet.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "tests/engine/harness.h"

/* How long the children live, and how long it may take to see that their parent is dead. */
#define CHILD_LIFE 40
#define NOTICED    4

#define MANY_FORKS 300

static test_server_t server;
static atomic_int *children;       /* of the ranks, shared with them: the process ids */
static unsigned doomed;            /* rank */

/* ---- in a child ---- */

static uint16_t peer_port(int fd)
{
    struct sockaddr_in peer = {0};
    socklen_t length = sizeof(peer);

    if (0 != getpeername(fd, (struct sockaddr *) &peer, &length) || AF_INET != peer.sin_family) {
        return 0;
    }
    return ntohs(peer.sin_port);
}

/* Descriptors of the kinds that we have, and UCX does not. */
static int is_ours(int fd, uint16_t control_port)
{
    char path[64], target[128];
    ssize_t length;

    snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    length = readlink(path, target, sizeof(target) - 1);
    if (length < 0) {
        return 0;
    }
    target[length] = '\0';
    return (0 != control_port && control_port == peer_port(fd))
           || NULL != strstr(target, "memfd:optcast") || NULL != strstr(target, "timerfd");
}

static int count_ours(uint16_t control_port)
{
    int count = 0;

    for (int fd = 3; fd < 1024; fd++) {
        count += is_ours(fd, control_port);
    }
    return count;
}

/* ---- ranks ---- */

static void body_dies(rank_t *rank)
{
    float one = 1, sum = 0;
    uint64_t begin;
    pid_t pid;

    CHECK(OC_OK == rank_allreduce(rank, 0, OC_OP_SUM, OC_TYPE_FLOAT, &one, &sum, 1));
    CHECK((float) rank->num_ranks == sum);
    if (doomed == rank->rank) {
        pid = fork();
        if (0 == pid) {
            sleep(CHILD_LIFE);
            _exit(0);
        }
        atomic_store(&children[0], (int) pid);
        usleep(100000);
        raise(SIGKILL);
    }
    begin = oc_clock_ns();
    CHECK(OC_OK != rank_allreduce(rank, 0, OC_OP_SUM, OC_TYPE_FLOAT, &one, &sum, 1));
    CHECK(oc_clock_ns() - begin < NOTICED * OC_SECOND);
    CHECK(0 == kill((pid_t) atomic_load(&children[0]), 0));
    _exit(EXIT_SUCCESS);
}

/* Each child looks around and goes; the service does not notice. */
static void body_forks(rank_t *rank)
{
    uint16_t port = (uint16_t) atoi(strrchr(rank->settings.servers, ':') + 1);
    float one = 1, sum = 0;
    int status;
    pid_t pid;

    CHECK(OC_OK == rank_allreduce(rank, 0, OC_OP_SUM, OC_TYPE_FLOAT, &one, &sum, 1));
    CHECK(count_ours(port) >= 2);
    for (int i = 0; i < 20; i++) {
        pid = fork();
        CHECK(pid >= 0);
        if (0 == pid) {
            _exit(count_ours(port));
        }
        CHECK(pid == waitpid(pid, &status, 0) && 0 == status);
        CHECK(OC_OK == rank_allreduce(rank, 0, OC_OP_SUM, OC_TYPE_FLOAT, &one, &sum, 1));
        CHECK((float) rank->num_ranks == sum);
    }
    CHECK(count_ours(port) >= 2);
}

static void *work(void *arg)
{
    rank_t *rank = arg;
    float one = 1, sum = 0;

    for (int i = 0; i < 200; i++) {
        rank_renew_group(rank, 0);
        CHECK(OC_OK == rank_allreduce(rank, 0, OC_OP_SUM, OC_TYPE_FLOAT, &one, &sum, 1));
    }
    return NULL;
}

/* One thread makes groups, with their descriptors, while another forks. */
static void body_forks_in_threads(rank_t *rank)
{
    uint16_t port = (uint16_t) atoi(strrchr(rank->settings.servers, ':') + 1);
    float one = 1, sum = 0;
    pthread_t thread;
    int status;
    pid_t pid;

    CHECK(OC_OK == rank_allreduce(rank, 0, OC_OP_SUM, OC_TYPE_FLOAT, &one, &sum, 1));
    CHECK(0 == pthread_create(&thread, NULL, work, rank));
    for (int i = 0; i < MANY_FORKS; i++) {
        pid = fork();
        CHECK(pid >= 0);
        if (0 == pid) {
            _exit(count_ours(port));
        }
        CHECK(pid == waitpid(pid, &status, 0) && 0 == status);
    }
    CHECK(0 == pthread_join(thread, NULL));
}

/* ---- tests ---- */

static void check_death(const char *servers, unsigned rank)
{
    oc_job_settings_t settings = test_settings(servers);
    ranks_t ranks;

    doomed = rank;
    atomic_store(&children[0], 0);
    ranks_start(&ranks, 2, &settings, body_dies, 30);
    assert_int_equal(ranks_wait(&ranks), 1);
    assert_true(atomic_load(&children[0]) > 0);
    assert_int_equal(kill((pid_t) atomic_load(&children[0]), SIGKILL), 0);
}

static void test_death_at_server(void **state)
{
    (void) state;
    server_start(&server, (const char *const[]) {"--log-level", "info", NULL});
    check_death(server.address, 1);
    assert_true(server_said(&server, "process 1 of the job is gone", 20000));
    assert_int_equal(server_stop(&server), 0);
}

static void test_death_of_embedded(void **state)
{
    (void) state;
    check_death("embedded", 0);
    check_death("embedded", 1);
}

static void check(void (*body)(rank_t *rank))
{
    oc_job_settings_t settings;

    server_start(&server, NULL);
    settings = test_settings(server.address);
    assert_true(ranks_succeed(&server, 2, &settings, body, 60));
}

static void test_children(void **state)
{
    (void) state;
    check(body_forks);
}

static void test_children_of_threads(void **state)
{
    (void) state;
    check(body_forks_in_threads);
}

int main(int argc, char **argv)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_death_at_server),
        cmocka_unit_test(test_death_of_embedded),
        cmocka_unit_test(test_children),
        cmocka_unit_test(test_children_of_threads),
    };

    if (argc > 1) {
        cmocka_set_test_filter(argv[1]);
    }
    alarm(360);
    children = shared_memory(sizeof(*children));
    return cmocka_run_group_tests(tests, NULL, NULL);
}
