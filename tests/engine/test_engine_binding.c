/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Owns the tests that aggregators really are where their placement says. Servers and ranks take a
 * file for the topology of this machine: two processors, and the loopback device near the second
 * one and near node 0, whatever is there.
 */
/* Test: quick 120; threads: default 120 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/engine/harness.h"

#define TOPOLOGY TOPOLOGIES "/loopback.xml"

/* Whether what the thread touches first comes from node 0 if there is room. */
static bool prefers_node(pid_t pid, pid_t thread)
{
    char path[64], line[1024];
    bool prefers = false;
    FILE *file;

    snprintf(path, sizeof(path), "/proc/%d/task/%d/numa_maps", (int) pid, (int) thread);
    file = fopen(path, "r");
    if (NULL == file) {
        return false;
    }
    while (!prefers && NULL != fgets(line, sizeof(line), file)) {
        prefers = NULL != strstr(line, " prefer") && NULL != strstr(line, ":0 ");
    }
    fclose(file);
    return prefers;
}

/* The processors of that thread, "" if there is none. */
static void find_processors(pid_t pid, pid_t thread, char *processors, size_t size)
{
    static const char name[] = "Cpus_allowed_list:\t";
    char path[64], line[256];
    FILE *file;

    processors[0] = '\0';
    snprintf(path, sizeof(path), "/proc/%d/task/%d/status", (int) pid, (int) thread);
    file = fopen(path, "r");
    while (NULL != file && NULL != fgets(line, sizeof(line), file)) {
        if (0 == strncmp(line, name, strlen(name))) {
            line[strcspn(line, "\n")] = '\0';
            snprintf(processors, size, "%s", line + strlen(name));
        }
    }
    if (NULL != file) {
        fclose(file);
    }
}

/* The processors of the aggregator's thread, "" if there is none. */
static void find_aggregator(pid_t pid, char *processors, size_t size, bool *prefers)
{
    pid_t thread = thread_of(pid, "optcast-agg0");

    find_processors(pid, thread, processors, size);
    *prefers = prefers_node(pid, thread);
}

/* All threads of the process that have been made since are here. */
static void pretend(void)
{
    unsetenv("HWLOC_COMPONENTS"); /* hwloc would not look at the file */
    setenv("HWLOC_XMLFILE", TOPOLOGY, 1);
    setenv("HWLOC_THISSYSTEM", "1", 1);
}

static void sum_up(rank_t *rank)
{
    static float send[20000], recv[20000];

    for (unsigned i = 0; i < 20000; i++) {
        send[i] = (float) (i % 100 + rank->rank);
    }
    CHECK(OC_OK == rank_allreduce(rank, 0, OC_OP_SUM, OC_TYPE_FLOAT, send, recv, 20000));
    for (unsigned i = 0; i < 20000; i++) {
        CHECK((float) (2 * (i % 100) + 1) == recv[i]);
    }
}

/* ---- a server ---- */

static void body_until_told(rank_t *rank)
{
    sum_up(rank);
    for (int i = 0; i < 10000 && 0 == atomic_load(&rank->shared->signal); i++) {
        usleep(1000);
    }
}

/* What the system says of the thread, and whether the server said that text. */
static void expect_server(const char *const *options, const char *expected, bool near,
                          const char *text)
{
    oc_job_settings_t settings;
    test_server_t server;
    ranks_t ranks;
    char processors[64];
    bool prefers = false;

    pretend();
    server_start(&server, options);
    unsetenv("HWLOC_XMLFILE");
    settings = test_settings(server.address);
    ranks_start(&ranks, 2, &settings, body_until_told, 30);
    assert_true(ranks_reach(&ranks, 2));
    find_aggregator(server_data_process(&server), processors, sizeof(processors), &prefers);
    atomic_store(&ranks.shared->signal, 1);
    assert_int_equal(ranks_wait(&ranks), 0);
    assert_true(server_said(&server, text, 20000));
    assert_int_equal(server_stop(&server), 0);
    assert_string_equal(processors, expected);
    assert_true(prefers == near || access("/proc/self/numa_maps", F_OK) < 0);
}

static void test_server(void **state)
{
    const char *near[] = {"--log-level", "info", NULL}, *off[] = {"--bind", "off", NULL};

    (void) state;
    expect_server(near, "1", true,
                  "aggregator 0 runs on processors 1, with memory of NUMA node 0, near lo");
    expect_server(off, "0-1", false, "is over");
}

/* Of the processors near the device none may be used, so it makes no difference. */
static void test_server_elsewhere(void **state)
{
    const char *options[] = {NULL};
    cpu_set_t before, first;

    (void) state;
    assert_int_equal(sched_getaffinity(0, sizeof(before), &before), 0);
    CPU_ZERO(&first);
    CPU_SET(0, &first);
    assert_int_equal(sched_setaffinity(0, sizeof(first), &first), 0);
    expect_server(options, "0", false,
                  "aggregators run anywhere: lo is near NUMA node 0, of whose processors this "
                  "process may use none");
    assert_int_equal(sched_setaffinity(0, sizeof(before), &before), 0);
}

/* ---- in a rank ---- */

static void body_embedded(rank_t *rank)
{
    bool near = OC_BIND_AUTO == rank->settings.local.bind, prefers = false;
    char processors[64];
    cpu_set_t first;

    CPU_ZERO(&first);
    CPU_SET(0, &first);
    CHECK(0 == sched_setaffinity(0, sizeof(first), &first));
    pretend();
    sum_up(rank);
    rank_barrier(rank);
    if (0 == rank->rank) {
        find_aggregator(getpid(), processors, sizeof(processors), &prefers);
        CHECK(0 == strcmp(processors, near ? "1" : "0-1"));
        CHECK(prefers == near || access("/proc/self/numa_maps", F_OK) < 0);
        find_processors(getpid(), thread_of(getpid(), "optcast-control"), processors,
                        sizeof(processors));
        CHECK(0 == strcmp(processors, "0-1"));
        /* the rank's own threads stay where they were */
        CHECK(0 == sched_getaffinity(0, sizeof(first), &first) && 1 == CPU_COUNT(&first));
    }
    rank_barrier(rank);
}

static void test_embedded(void **state)
{
    oc_job_settings_t settings = test_settings("embedded:1");

    (void) state;
    setenv("OPTCAST_UCX_NET_DEVICES", "lo", 1);
    assert_int_equal(ranks_run(2, &settings, body_embedded, 30), 0);
    settings.local.bind = OC_BIND_OFF;
    assert_int_equal(ranks_run(2, &settings, body_embedded, 30), 0);
    unsetenv("OPTCAST_UCX_NET_DEVICES");
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_server),
        cmocka_unit_test(test_server_elsewhere),
        cmocka_unit_test(test_embedded),
    };
    cpu_set_t set;

    alarm(400);
    if (0 != sched_getaffinity(0, sizeof(set), &set) || !CPU_ISSET(0, &set)
        || !CPU_ISSET(1, &set)) {
        printf("SKIP: this needs processors 0 and 1\n");
        return 77;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
