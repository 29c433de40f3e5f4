/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Owns the engine's tests of cgroups of data processes. Those that need one run where
 * OPTCAST_TEST_CGROUP names a cgroup with the memory controller for its children, in one of
 * which this process is, where OPTCAST_SERVER starts the server in its child "server", and the
 * standard input is a file of FILE_SIZE that nobody has read: in a guest (tests/rdma/cgroup.sh).
 * Everywhere else the server says why there is none.
 */
/* Test: default 60 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "protocol/tag.h"
#include "tests/engine/harness.h"
#include "tests/engine/member.h"

#define MIB (1ull << 20)

/* Between memory.high and memory.max, and between the bound and RLIMIT_DATA. */
#define SLACK (64 * MIB)

/* What a flood may add before the kernel acts: less than the bound of the process itself. */
#define MORE (16 * MIB)

#define FILE_SIZE (48 * MIB)

/* Emulated processors are slow. */
#define PATIENCE_MS 50000

#define GROUPS 40

static const char *const small_server[] = {"--memory-limit", "1M", NULL};

static test_server_t server;
static oc_joined_t joined[GROUPS];

static const char *delegated(void)
{
    return getenv("OPTCAST_TEST_CGROUP");
}

static oc_job_t new_job(void)
{
    oc_job_t job;

    fill_random(&job, sizeof(job));
    return job;
}

static void body_once(rank_t *rank)
{
    float one = 1, sum = 0;

    CHECK(OC_OK == rank_allreduce(rank, 0, OC_OP_SUM, OC_TYPE_FLOAT, &one, &sum, 1));
    CHECK((float) rank->num_ranks == sum && 1 == rank->counters.allreduce_offloaded);
}

/* ---- where there is none ---- */

/* This process is in the same cgroup. */
static void test_none(void **state)
{
    oc_job_settings_t settings;

    (void) state;
    if (NULL != delegated()) {
        skip();
    }
    server_start(&server, NULL);
    assert_true(server_said(&server, "info: the memory of each job's process is bounded by "
                            "RLIMIT_DATA, without a cgroup: ", 20000));
    settings = test_settings(server.address);
    assert_true(ranks_succeed(&server, 2, &settings, body_once, 20));
}

static void test_off(void **state)
{
    static const char *const off[] = {"--cgroup", "off", NULL};

    (void) state;
    server_start(&server, off);
    assert_true(server_said(&server, "without a cgroup: it is switched off", 20000));
    assert_int_equal(server_stop(&server), 0);
}

/* ---- where there is one ---- */

static void path_of(char *path, size_t size, const char *cgroup, const char *file)
{
    assert_in_range(snprintf(path, size, "%s/server/%s/%s", delegated(), cgroup, file), 1,
                    size - 1);
}

static bool is_there(const char *cgroup)
{
    char path[PATH_MAX];

    path_of(path, sizeof(path), cgroup, "");
    return 0 == access(path, F_OK);
}

static bool disappears(const char *cgroup)
{
    uint64_t end = oc_clock_ns() + PATIENCE_MS * OC_MILLISECOND;

    while (is_there(cgroup) && oc_clock_ns() < end) {
        usleep(10000);
    }
    return !is_there(cgroup);
}

/* "max" is UINT64_MAX. */
static uint64_t read_number(const char *cgroup, const char *file)
{
    char path[PATH_MAX], text[64] = "";
    FILE *stream;

    path_of(path, sizeof(path), cgroup, file);
    stream = fopen(path, "re");
    assert_non_null(stream);
    assert_non_null(fgets(text, sizeof(text), stream));
    fclose(stream);
    return 0 == strcmp(text, "max\n") ? UINT64_MAX : strtoull(text, NULL, 10);
}

static void write_number(const char *cgroup, const char *file, uint64_t number)
{
    char path[PATH_MAX];
    FILE *stream;

    path_of(path, sizeof(path), cgroup, file);
    stream = fopen(path, "we");
    assert_non_null(stream);
    if (UINT64_MAX == number) {
        fprintf(stream, "max");
    } else {
        fprintf(stream, "%" PRIu64, number);
    }
    assert_int_equal(fclose(stream), 0);
}

/* The name of the process's cgroup in that of the server. */
static void cgroup_of(pid_t pid, char *name, size_t size)
{
    char path[64], line[PATH_MAX] = "", *last;
    FILE *stream;

    snprintf(path, sizeof(path), "/proc/%d/cgroup", (int) pid);
    stream = fopen(path, "re");
    assert_non_null(stream);
    while (NULL != fgets(line, sizeof(line), stream) && 0 != strncmp(line, "0::", 3)) {
        continue;
    }
    fclose(stream);
    line[strcspn(line, "\n")] = '\0';
    last = strrchr(line, '/');
    assert_non_null(last);
    assert_in_range(snprintf(name, size, "%s", last + 1), 1, size - 1);
    assert_true(last - line > 7 && 0 == strncmp(last - 7, "/server", 7));
}

static uint64_t data_limit_of(pid_t pid)
{
    struct rlimit limit;

    assert_int_equal(prlimit(pid, RLIMIT_DATA, NULL, &limit), 0);
    return limit.rlim_cur;
}

/* memory.high for this bound and so many clients, with one aggregator. */
static uint64_t high_of(uint64_t bound, unsigned clients)
{
    return (bound + bound / 64 + 32 * MIB + clients * 2 * MIB) & ~(uint64_t) 4095;
}

/* The supervisor hears of a bound that has changed. */
static void expect_high(const char *cgroup, pid_t pid, unsigned clients)
{
    uint64_t end = oc_clock_ns() + 10 * OC_SECOND, high = 0, expected = 1;

    while (high != expected && oc_clock_ns() < end) {
        usleep(10000);
        expected = high_of(data_limit_of(pid) - SLACK, clients);
        high = read_number(cgroup, "memory.high");
    }
    assert_int_equal(high, expected);
    assert_int_equal(read_number(cgroup, "memory.max") & ~4095ull, high + SLACK);
}

static void test_bounds(void **state)
{
    oc_job_t job = new_job();
    member_t member, other;
    char name[64], own[64];
    pid_t pid;

    (void) state;
    server_start(&server, small_server);
    assert_true(server_said(&server, "is bounded by RLIMIT_DATA and a cgroup below ", 20000));
    cgroup_of(server.pid, own, sizeof(own));
    assert_string_equal(own, "supervisor");
    member_open(&member, server.port, &job, 0);
    pid = server_data_process(&server);
    cgroup_of(pid, name, sizeof(name));
    assert_int_equal(strncmp(name, "job-", 4), 0);
    expect_high(name, pid, 1);
    member_open(&other, server.port, &job, 1);
    expect_high(name, pid, 2);
    assert_int_equal(read_number(name, "memory.oom.group"), 1);
    assert_int_equal(read_number(name, "memory.swap.max"), 0);
    /* all of it is there, also what came before the first message */
    assert_true(read_number(name, "memory.current") + 8 * MIB
                > memory_kib_of(pid, "RssAnon") * 1024);
    member_close(&other, true);
    member_close(&member, true);
    assert_true(disappears(name));
    assert_int_equal(server_stop(&server), 0);
}

static void join_all(member_t *member)
{
    for (unsigned i = 0; i < GROUPS; i++) {
        oc_join_t join = {.group = i + 1, .num_ranks = 2, .chunk_bytes = 65536, .window = 64,
                          .small_bytes = 4096};

        joined[i] = member_join(member, &join);
    }
}

/* In each group what its window allows, 160 MiB in all. */
static void send_all(member_t *member)
{
    for (unsigned i = 0; i < GROUPS && NULL != member->worker; i++) {
        member_flood(member, 63, 65536, oc_tag(OC_KIND_CONTRIBUTION, joined[i].handle, 0, 0, 0), 1);
    }
}

/* Two ranks that reduce until they are told that it is enough. */
static void body_goes_on(rank_t *rank)
{
    static float send[20000], recv[20000];
    float sum = 0;

    rank_set_up_groups(rank, 1);
    while (sum < 2) {
        /* there is one processor for all */
        usleep(20000);
        send[0] = 0 == rank->rank && 0 != atomic_load(&rank->shared->signal) ? 2 : 1;
        for (unsigned i = 1; i < 20000; i++) {
            send[i] = (float) (i * (rank->rank + 1));
        }
        CHECK(OC_OK == rank_allreduce(rank, 0, OC_OP_MAX, OC_TYPE_FLOAT, send, recv, 20000));
        sum = recv[0];
        for (unsigned i = 1; i < 20000; i++) {
            CHECK((float) (i * rank->num_ranks) == recv[i]);
        }
    }
    CHECK(rank->counters.allreduce_offloaded > 0 && 0 == rank->counters.failures);
}

static bool reach(ranks_t *ranks, unsigned operations)
{
    unsigned tries = PATIENCE_MS / 10000;

    while (tries-- > 0 && !ranks_reach(ranks, operations)) {
        continue;
    }
    return atomic_load(&ranks->shared->operations) >= operations;
}

typedef struct {
    oc_job_t job;
    member_t member;
    ranks_t ranks;             /* of another job */
    char name[64], other[64];  /* cgroups of both */
} flood_t;

static void flood_begin(flood_t *flood)
{
    oc_job_settings_t settings;
    pid_t pid;

    *flood = (flood_t) {.job = new_job()};
    server_start(&server, small_server);
    settings = test_settings(server.address);
    settings.connect_timeout = settings.heartbeat_timeout = PATIENCE_MS / 1000;
    ranks_start(&flood->ranks, 2, &settings, body_goes_on, 240);
    assert_true(reach(&flood->ranks, 3));
    cgroup_of(server_data_process(&server), flood->other, sizeof(flood->other));
    member_open(&flood->member, server.port, &flood->job, 0);
    pid = last_child_of(server.pid);
    cgroup_of(pid, flood->name, sizeof(flood->name));
    assert_string_not_equal(flood->name, flood->other);
    join_all(&flood->member);
    expect_high(flood->name, pid, 1);
}

/* Nobody else has noticed anything. */
static void flood_end(flood_t *flood)
{
    assert_true(disappears(flood->name));
    assert_true(is_there(flood->other));
    assert_true(reach(&flood->ranks, atomic_load(&flood->ranks.shared->operations) + 5));
    atomic_store(&flood->ranks.shared->signal, 1);
    assert_int_equal(ranks_wait(&flood->ranks), 0);
    assert_true(disappears(flood->other));
    assert_int_equal(server_stop(&server), 0);
}

/* The supervisor lifts memory.high, unless the process has ended with its cgroup before it is seen. */
static bool is_lifted(const char *cgroup)
{
    uint64_t end = oc_clock_ns() + 10 * OC_SECOND, high = 0;
    char path[PATH_MAX], text[64];
    FILE *stream;

    path_of(path, sizeof(path), cgroup, "memory.high");
    while (UINT64_MAX != high && oc_clock_ns() < end) {
        stream = fopen(path, "re");
        if (NULL == stream || NULL == fgets(text, sizeof(text), stream)
            || 0 == strcmp(text, "max\n")) {
            high = UINT64_MAX;
        } else {
            usleep(10000);
        }
        if (NULL != stream) {
            fclose(stream);
        }
    }
    return UINT64_MAX == high;
}

static void test_high(void **state)
{
    static const char said[] = "with what the kernel has for it, holds ";
    char text[160];
    flood_t flood;
    uint64_t high;

    (void) state;
    flood_begin(&flood);
    high = (read_number(flood.name, "memory.current") + MORE) & ~4095ull;
    write_number(flood.name, "memory.high", high);
    send_all(&flood.member);
    snprintf(text, sizeof(text), "bytes of memory, and may hold %" PRIu64 ": its ranks have sent",
             high);
    member_expect(&flood.member, OC_CONTROL_JOB_ERROR, text, PATIENCE_MS);
    /* it stays a second, so that clients can read why, and must not be slowed down in it */
    assert_true(is_lifted(flood.name));
    member_close(&flood.member, false);
    assert_true(server_said(&server, said, PATIENCE_MS));
    flood_end(&flood);
}

static uint64_t event_of(const char *cgroup, const char *name)
{
    char path[PATH_MAX], line[128], format[64];
    unsigned long long number = 0;
    FILE *stream;

    path_of(path, sizeof(path), cgroup, "memory.events");
    snprintf(format, sizeof(format), "%s %%llu", name);
    stream = fopen(path, "re");
    assert_non_null(stream);
    while (NULL != fgets(line, sizeof(line), stream) && 1 != sscanf(line, format, &number)) {
        continue;
    }
    fclose(stream);
    return number;
}

/* In a process that goes into the cgroup, as if the job's process had read it. */
static void read_file(const char *cgroup)
{
    static char bytes[1 << 16];
    ssize_t got, all = 0;
    pid_t pid = fork();
    int status;

    if (0 == pid) {
        write_number(cgroup, "cgroup.procs", 0);
        while ((got = read(STDIN_FILENO, bytes, sizeof(bytes))) > 0) {
            all += got;
        }
        _exit(FILE_SIZE == all ? EXIT_SUCCESS : EXIT_FAILURE);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
}

/* How often the process has read something; one that cannot wait does so all the time. */
static unsigned long long reads_of(pid_t pid)
{
    char path[64], line[128];
    unsigned long long reads = 0;
    FILE *stream;

    snprintf(path, sizeof(path), "/proc/%d/io", (int) pid);
    stream = fopen(path, "re");
    assert_non_null(stream);
    while (NULL != fgets(line, sizeof(line), stream) && 1 != sscanf(line, "syscr: %llu", &reads)) {
        continue;
    }
    fclose(stream);
    assert_true(reads > 0);
    return reads;
}

/* What the kernel can take back is nothing that a job ends for; and events are heard only once. */
static void test_files(void **state)
{
    oc_join_t join = {.group = GROUPS + 1, .num_ranks = 2, .chunk_bytes = 65536, .window = 64,
                      .small_bytes = 4096};
    flood_t flood;
    unsigned long long before;

    (void) state;
    flood_begin(&flood);
    write_number(flood.name, "memory.high",
                 (read_number(flood.name, "memory.current") + MORE) & ~4095ull);
    read_file(flood.name);
    assert_true(event_of(flood.name, "high") > 0);
    before = reads_of(server.pid);
    sleep(3);
    assert_true(reads_of(server.pid) - before < 100);
    (void) member_join(&flood.member, &join);
    member_close(&flood.member, true);
    flood_end(&flood);
}

static void test_max(void **state)
{
    char text[160];
    flood_t flood;
    uint64_t most;

    (void) state;
    flood_begin(&flood);
    most = (read_number(flood.name, "memory.current") + MORE) & ~4095ull;
    write_number(flood.name, "memory.high", UINT64_MAX);
    write_number(flood.name, "memory.max", most);
    send_all(&flood.member);
    assert_true(member_is_left(&flood.member, PATIENCE_MS));
    member_close(&flood.member, false);
    snprintf(text, sizeof(text), "its process was ended by the kernel, because with what the "
             "kernel had for it it came to its bound of %" PRIu64 " bytes of memory", most);
    assert_true(server_said(&server, text, PATIENCE_MS));
    flood_end(&flood);
}

/* A server that was killed leaves its cgroups to the next one. */
static void test_leftovers(void **state)
{
    oc_job_t job = new_job();
    member_t member;
    char name[64], other[64];
    int status;

    (void) state;
    server_start(&server, small_server);
    member_open(&member, server.port, &job, 0);
    cgroup_of(server_data_process(&server), name, sizeof(name));
    assert_int_equal(kill(server.pid, SIGKILL), 0);
    assert_int_equal(waitpid(server.pid, &status, 0), server.pid);
    close(server.output);
    assert_true(member_is_left(&member, PATIENCE_MS));
    member_close(&member, false);
    assert_true(is_there(name));
    server_start(&server, small_server);
    /* at once, or with the first job that ends: the old process may not have */
    job = new_job();
    member_open(&member, server.port, &job, 0);
    cgroup_of(server_data_process(&server), other, sizeof(other));
    member_close(&member, true);
    assert_true(disappears(other));
    assert_true(disappears(name));
    assert_int_equal(server_stop(&server), 0);
}

int main(int argc, char **argv)
{
    static const struct CMUnitTest everywhere[] = {
        cmocka_unit_test(test_none),
        cmocka_unit_test(test_off),
    };
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bounds),
        cmocka_unit_test(test_high),
        cmocka_unit_test(test_files),
        cmocka_unit_test(test_max),
        cmocka_unit_test(test_leftovers),
        cmocka_unit_test(test_off),
    };

    if (argc > 1) {
        cmocka_set_test_filter(argv[1]);
    }
    setenv("OPTCAST_UCX_TLS", "tcp", 1);
    setenv("OPTCAST_UCX_NET_DEVICES", "lo", 1);
    if (NULL == delegated()) {
        alarm(240);
        return cmocka_run_group_tests(everywhere, NULL, NULL);
    }
    alarm(1600);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
