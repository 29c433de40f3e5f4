/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Owns the engine's tests of data processes as the supervisor deals with them: those that hang, what
 * they know of each other, and clients that never join.
 */
/* Test: default 240; sanitizers: all 400 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "tests/engine/harness.h"
#include "tests/engine/member.h"

static test_server_t server;

static oc_job_t new_job(void)
{
    oc_job_t job;

    fill_random(&job, sizeof(job));
    return job;
}

static oc_join_t join_of(uint32_t rank, uint32_t num_ranks)
{
    return (oc_join_t) {.group = 1, .num_ranks = num_ranks, .rank = rank, .chunk_bytes = 4096,
                        .window = 1};
}

static bool is_alive(pid_t pid)
{
    return 0 == kill(pid, 0) && memory_kib_of(pid, "VmRSS") > 0;
}

static bool is_gone_within(pid_t pid, unsigned seconds)
{
    uint64_t end = oc_clock_ns() + seconds * OC_SECOND;

    while (is_alive(pid) && oc_clock_ns() < end) {
        usleep(10000);
    }
    return !is_alive(pid);
}

/* ---- processes that hang ---- */

/* false: there is none, as the server says. */
static bool has_place(void)
{
    oc_control_t message;
    oc_job_t job = new_job();
    char text[512] = "";
    member_t member;
    bool welcome;

    member_greet(&member, server.port, &job, 0);
    assert_true(member_hear(&member, &message, 30000));
    welcome = OC_CONTROL_WELCOME == message.type;
    if (!welcome) {
        assert_int_equal(message.type, OC_CONTROL_REFUSE);
        oc_control_text(&message.notice.text, text, sizeof(text));
        assert_non_null(strstr(text, "which is its max-jobs"));
    }
    member_close(&member, welcome);
    return welcome;
}

/* The place of a process that is gone is free when the server has heard of its end. */
static void expect_place(void)
{
    uint64_t end = oc_clock_ns() + 5 * OC_SECOND;
    bool found = has_place();

    while (!found && oc_clock_ns() < end) {
        usleep(100000);
        found = has_place();
    }
    assert_true(found);
}

static void expect_no_place(void)
{
    oc_job_t job = new_job();
    member_t member;

    member_greet(&member, server.port, &job, 0);
    member_expect(&member, OC_CONTROL_REFUSE, "which is its max-jobs", 5000);
    member_close(&member, false);
}

/*
 * Stopped, it is left alone as long as one of its clients is there, and others find no place; when
 * the last one has gone it is ended, and there is one.
 */
static void test_hang(void **state)
{
    const char *options[] = {"--max-jobs", "1", NULL};
    oc_join_t join = join_of(0, 2);
    oc_job_t job = new_job();
    member_t first, second;
    pid_t pid;

    (void) state;
    server_start(&server, options);
    member_open(&first, server.port, &job, 0);
    member_open(&second, server.port, &job, 1);
    (void) member_join(&first, &join);
    pid = server_data_process(&server);
    /* the supervisor has asked it since the clients came */
    usleep(3500000);
    assert_int_equal(kill(pid, SIGSTOP), 0);
    member_close(&first, false);
    usleep(15000000);
    assert_true(is_alive(pid));
    expect_no_place();
    member_close(&second, true);
    assert_true(is_gone_within(pid, 5));
    assert_true(server_said(&server, "does not answer, and its clients are gone: it is ended", 100));
    expect_place();
    assert_int_equal(server_stop(&server), 0);
}

/* It goes on as if nothing had been. */
static void test_continued(void **state)
{
    oc_join_t join = join_of(0, 1);
    oc_control_t message = {.type = OC_CONTROL_PING, .ping = 77};
    oc_job_t job = new_job();
    member_t member;
    pid_t pid;

    (void) state;
    server_start(&server, NULL);
    member_open(&member, server.port, &job, 0);
    (void) member_join(&member, &join);
    pid = server_data_process(&server);
    usleep(2500000);
    assert_int_equal(kill(pid, SIGSTOP), 0);
    usleep(14000000);
    assert_int_equal(kill(pid, SIGCONT), 0);
    member_say(&member, &message);
    assert_true(member_hear(&member, &message, 5000));
    assert_int_equal(message.type, OC_CONTROL_PONG);
    assert_int_equal(message.ping, 77);
    member_close(&member, true);
    assert_true(server_said(&server, "is over", 20000));
    assert_int_equal(server_stop(&server), 0);
}

/* ---- what a process knows ---- */

#define PIECE (1u << 20)

/* Whether these bytes are anywhere in the memory of that process. */
static bool knows(pid_t pid, const uint8_t *bytes, size_t length)
{
    uint8_t *piece = malloc(PIECE + length);
    unsigned long begin, end;
    char path[64], line[512];
    FILE *maps;
    bool found = false;
    int memory;

    snprintf(path, sizeof(path), "/proc/%d/mem", (int) pid);
    memory = open(path, O_RDONLY | O_CLOEXEC);
    snprintf(path, sizeof(path), "/proc/%d/maps", (int) pid);
    maps = fopen(path, "re");
    assert_true(memory >= 0 && NULL != maps && NULL != piece);
    while (!found && NULL != fgets(line, sizeof(line), maps)) {
        assert_int_equal(sscanf(line, "%lx-%lx", &begin, &end), 2);
        /* what cannot be read is nobody's memory, and the shadow of a sanitizer is too much */
        while (!found && begin < end && NULL == strstr(line, "---p") && end - begin < 1ul << 32) {
            ssize_t got = pread(memory, piece, PIECE + length, (off_t) begin);

            found = got > 0 && NULL != memmem(piece, (size_t) got, bytes, length);
            begin += PIECE;
        }
    }
    fclose(maps);
    close(memory);
    free(piece);
    return found;
}

/* Where the first mapping of this name begins. */
static unsigned long place_of(pid_t pid, const char *name)
{
    unsigned long begin = 0, at;
    char path[64], line[512];
    FILE *maps;

    snprintf(path, sizeof(path), "/proc/%d/maps", (int) pid);
    maps = fopen(path, "re");
    assert_non_null(maps);
    while (0 == begin && NULL != fgets(line, sizeof(line), maps)) {
        if (NULL != strstr(line, name) && 1 == sscanf(line, "%lx", &at)) {
            begin = at;
        }
    }
    fclose(maps);
    assert_true(begin > 0);
    return begin;
}

/* The sockets and event descriptors of a, but for its standard streams, that b has, too. */
static unsigned count_common(pid_t a, pid_t b)
{
    char path[80], first[128], second[128];
    unsigned count = 0;

    for (int i = 3; i < 256; i++) {
        for (int k = 0; k < 256; k++) {
            memset(first, 0, sizeof(first));
            memset(second, 0, sizeof(second));
            snprintf(path, sizeof(path), "/proc/%d/fd/%d", (int) a, i);
            (void) !readlink(path, first, sizeof(first) - 1);
            snprintf(path, sizeof(path), "/proc/%d/fd/%d", (int) b, k);
            (void) !readlink(path, second, sizeof(second) - 1);
            count += 0 == strncmp(first, "socket:", 7) && 0 == strcmp(first, second);
        }
    }
    return count;
}

static bool layout_is_random(void)
{
    FILE *file = fopen("/proc/sys/kernel/randomize_va_space", "re");
    int value = 0;

    if (NULL != file) {
        (void) !fscanf(file, "%d", &value);
        fclose(file);
    }
    return 2 == value;
}

/* Nothing about its job is where others can read it. */
static void expect_plain_arguments(pid_t pid)
{
    static const char expected[] = "optcast-server\0--data-process";
    char path[64], arguments[128] = "";
    FILE *file;

    snprintf(path, sizeof(path), "/proc/%d/cmdline", (int) pid);
    file = fopen(path, "re");
    assert_non_null(file);
    assert_int_equal(fread(arguments, 1, sizeof(arguments), file), sizeof(expected));
    assert_memory_equal(arguments, expected, sizeof(expected));
    fclose(file);
}

/* The second job's process is made by one that knows the first. */
static void test_secrets(void **state)
{
    static const char *const places[] = {"optcast-server", "libc.so", "[stack]"};
    member_t members[2];
    oc_job_t jobs[2];
    pid_t pids[2];

    (void) state;
    server_start(&server, NULL);
    for (int i = 0; i < 2; i++) {
        jobs[i] = new_job();
        member_open(&members[i], server.port, &jobs[i], 0);
        pids[i] = last_child_of(server.pid);
    }
    assert_int_not_equal(pids[0], pids[1]);
    for (int i = 0; i < 2; i++) {
        assert_true(knows(server.pid, jobs[i].key, OC_JOB_KEY_SIZE));
        assert_true(knows(pids[i], jobs[i].key, OC_JOB_KEY_SIZE));
        assert_false(knows(pids[i], jobs[1 - i].key, OC_JOB_KEY_SIZE));
        assert_false(knows(pids[i], jobs[1 - i].id, OC_JOB_ID_SIZE));
        assert_int_equal(count_common(pids[i], server.pid), 0);
    }
    expect_plain_arguments(pids[0]);
    assert_int_equal(count_common(pids[0], pids[1]), 0);
    for (unsigned i = 0; layout_is_random() && i < sizeof(places) / sizeof(places[0]); i++) {
        assert_int_not_equal(place_of(pids[0], places[i]), place_of(pids[1], places[i]));
        assert_int_not_equal(place_of(pids[0], places[i]), place_of(server.pid, places[i]));
    }
    member_close(&members[0], true);
    member_close(&members[1], true);
    assert_int_equal(server_stop(&server), 0);
}

/* ---- how it is started ---- */

static void body_once(rank_t *rank)
{
    float one = 1, sum = 0;

    CHECK(OC_OK == rank_allreduce(rank, 0, OC_OP_SUM, OC_TYPE_FLOAT, &one, &sum, 1));
    CHECK((float) rank->num_ranks == sum && 1 == rank->counters.allreduce_offloaded);
}

static void make_program(const char *path, const char *line)
{
    FILE *file = fopen(path, "we");

    assert_non_null(file);
    assert_true(fputs(line, file) >= 0);
    assert_int_equal(fchmod(fileno(file), 0755), 0);
    assert_int_equal(fclose(file), 0);
}

/* Another version takes its place while it runs: it goes on with its own. */
static void test_upgrade(void **state)
{
    const char *program = getenv("OPTCAST_SERVER");
    char folder[] = "/tmp/optcast_jobs_XXXXXX", path[64], other[64], command[512];
    oc_job_settings_t settings;

    (void) state;
    program = NULL != program ? program : "./optcast-server";
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof(path), "%s/optcast-server", folder);
    snprintf(other, sizeof(other), "%s/new", folder);
    snprintf(command, sizeof(command), "cp '%s' %s", program, path);
    assert_int_equal(system(command), 0);
    setenv("OPTCAST_SERVER", path, 1);
    server_start(&server, NULL);
    make_program(other, "#!/bin/false\n");
    assert_int_equal(rename(other, path), 0);
    settings = test_settings(server.address);
    settings.connect_timeout = 20;
    assert_int_equal(ranks_run(2, &settings, body_once, 20), 0);
    assert_int_equal(unlink(path), 0);
    assert_true(ranks_succeed(&server, 2, &settings, body_once, 20));
    assert_int_equal(rmdir(folder), 0);
    setenv("OPTCAST_SERVER", program, 1);
}

/* People cannot start one. */
static void test_mode(void **state)
{
    const char *program = getenv("OPTCAST_SERVER");
    char command[512];

    (void) state;
    snprintf(command, sizeof(command), "'%s' --data-process 3</dev/null 2>&1 | grep -q 'only the "
             "server itself starts data processes'", NULL != program ? program : "./optcast-server");
    assert_int_equal(system(command), 0);
    snprintf(command, sizeof(command), "'%s' --help | grep -q data-process",
             NULL != program ? program : "./optcast-server");
    assert_int_not_equal(system(command), 0);
}

static int by_time(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *) a, y = *(const uint64_t *) b;

    return x < y ? -1 : x > y;
}

#define STARTS 15

/* Only printed: how long the first client of a job waits for WELCOME. */
static void test_start(void **state)
{
    uint64_t times[STARTS];

    (void) state;
    server_start(&server, NULL);
    for (unsigned i = 0; i < STARTS; i++) {
        oc_job_t job = new_job();
        oc_control_t message;
        member_t member;

        member_greet(&member, server.port, &job, 0);
        times[i] = oc_clock_ns();
        assert_true(member_hear(&member, &message, 10000));
        times[i] = oc_clock_ns() - times[i];
        assert_int_equal(message.type, OC_CONTROL_WELCOME);
        member_close(&member, true);
    }
    qsort(times, STARTS, sizeof(times[0]), by_time);
    print_message("from HELLO to WELCOME: median %.1f ms, from %.1f to %.1f\n",
                  (double) times[STARTS / 2] / OC_MILLISECOND, (double) times[0] / OC_MILLISECOND,
                  (double) times[STARTS - 1] / OC_MILLISECOND);
    assert_int_equal(server_stop(&server), 0);
}

/* ---- clients that never join ---- */

static bool answers(member_t *member)
{
    oc_control_t message = {.type = OC_CONTROL_PING, .ping = 5};

    member_say(member, &message);
    return member_hear(member, &message, 3000) && OC_CONTROL_PONG == message.type;
}

/*
 * One says nothing, one joins when it is told to retire, and one says nothing while another process of
 * its job has joined: only the first one has to go.
 */
static void test_idle(void **state)
{
    oc_job_t jobs[3] = {new_job(), new_job(), new_job()};
    oc_join_t join = join_of(0, 2);
    member_t silent, late, joined, other;
    uint64_t begin = oc_clock_ns();

    (void) state;
    server_start(&server, NULL);
    member_open(&silent, server.port, &jobs[0], 7);
    member_open(&late, server.port, &jobs[1], 0);
    member_open(&joined, server.port, &jobs[2], 0);
    member_open(&other, server.port, &jobs[2], 1);
    (void) member_join(&joined, &join);
    member_expect(&silent, OC_CONTROL_RETIRE, "no process of the job has joined", 40000);
    assert_true(oc_clock_ns() - begin > 29 * OC_SECOND);
    member_expect(&late, OC_CONTROL_RETIRE, "no process of the job has joined", 3000);
    (void) member_join(&late, &join);
    assert_false(member_is_left(&silent, 3500));
    assert_true(member_is_left(&silent, 4500));
    assert_true(server_said(&server, "the connection of process 7 is closed: no process", 20000));
    assert_true(answers(&late) && answers(&joined) && answers(&other));
    member_close(&silent, false);
    member_close(&late, true);
    member_close(&joined, true);
    member_close(&other, true);
    assert_int_equal(server_stop(&server), 0);
}

static void wait_for_signal(rank_t *rank, int signal)
{
    uint64_t end = oc_clock_ns() + 40 * OC_SECOND;

    atomic_fetch_add(&rank->shared->operations, 1);
    while (atomic_load(&rank->shared->signal) < signal) {
        CHECK(oc_clock_ns() < end);
        usleep(1000);
    }
}

static void body_comes_later(rank_t *rank)
{
    wait_for_signal(rank, 1);
    body_once(rank);
}

/* Where all places are taken, the oldest of those makes room, when it has had its time. */
static void test_room(void **state)
{
    const char *options[] = {"--max-jobs", "2", NULL};
    oc_job_t jobs[2] = {new_job(), new_job()};
    oc_job_settings_t settings;
    member_t silent[2];
    ranks_t ranks;

    (void) state;
    server_start(&server, options);
    settings = test_settings(server.address);
    settings.connect_timeout = 20;
    /* before this process has a worker, whose thread they would lack */
    ranks_start(&ranks, 2, &settings, body_comes_later, 60);
    for (int i = 0; i < 2; i++) {
        member_open(&silent[i], server.port, &jobs[i], 70 + (uint32_t) i);
    }
    expect_no_place();
    usleep(10500000);
    atomic_store(&ranks.shared->signal, 1);
    assert_int_equal(ranks_wait(&ranks), 0);
    assert_true(server_said(&server, "the connection of process 70 is closed", 20000));
    assert_true(answers(&silent[1]));
    member_expect(&silent[0], OC_CONTROL_RETIRE, "no process of the job has joined", 100);
    member_close(&silent[0], false);
    member_close(&silent[1], true);
    assert_int_equal(server_stop(&server), 0);
}

/* To a parent, a leaf is a client: the leaf's own ones have to go. */
static void test_room_above(void **state)
{
    const char *options[] = {"--max-jobs", "1", NULL};
    const char *leaf_options[] = {"--parent", server.address, NULL};
    oc_job_t job = new_job();
    test_server_t leaf;
    member_t silent;

    (void) state;
    server_start(&server, options);
    server_start(&leaf, leaf_options);
    member_open(&silent, leaf.port, &job, 7);
    usleep(10500000);
    expect_place();
    member_expect(&silent, OC_CONTROL_RETIRE, "no process of the job has joined", 100);
    assert_true(member_is_left(&silent, 1000));
    assert_true(server_said(&leaf, "the connection of process 7 is closed", 20000));
    member_close(&silent, false);
    assert_int_equal(server_stop(&leaf), 0);
    assert_int_equal(server_stop(&server), 0);
}

/* It has been connected to one of two servers, and did without. Later on it wants both again. */
static void body_returns(rank_t *rank)
{
    float one = 1, sum = 0;

    rank_expect_declined(rank, 0, "cannot be reached");
    wait_for_signal(rank, 1);
    for (unsigned group = 1; group < 3; group++) {
        CHECK(OC_OK == rank_allreduce(rank, group, OC_OP_SUM, OC_TYPE_FLOAT, &one, &sum, 1));
        CHECK((float) rank->num_ranks == sum);
    }
    CHECK(2 == rank->counters.allreduce_offloaded && 0 == rank->counters.failures);
}

static void test_return(void **state)
{
    const char *options[] = {"--max-jobs", "1", NULL};
    oc_job_settings_t settings;
    char servers[160], unreachable[64];
    test_server_t other;
    ranks_t ranks;

    (void) state;
    server_start(&other, NULL);
    memcpy(unreachable, other.address, sizeof(unreachable));
    assert_int_equal(server_stop(&other), 0);
    server_start(&server, options);
    snprintf(servers, sizeof(servers), "%s,%s", server.address, unreachable);
    settings = test_settings(servers);
    settings.connect_timeout = 5;
    ranks_start(&ranks, 2, &settings, body_returns, 60);
    assert_true(ranks_reach(&ranks, 2));
    usleep(10500000);
    /* the ranks compute, and do not hear that they have to go */
    expect_place();
    assert_true(server_said(&server, "is closed: no process of its job has joined", 20000));
    /* the place is free again when the newcomer's process has ended, too */
    assert_true(server_said(&server, "begins", 20000));
    while (child_of(server.pid) > 0) {
        usleep(10000);
    }
    server_start_at(&other, unreachable, NULL);
    atomic_store(&ranks.shared->signal, 1);
    assert_int_equal(ranks_wait(&ranks), 0);
    assert_int_equal(server_stop(&other), 0);
    assert_int_equal(server_stop(&server), 0);
}

static void body_patient(rank_t *rank)
{
    outcome_t outcome = {0};
    float one = 1, sum = 0;

    CHECK(OC_OK == rank_start(rank, 0, OC_OP_SUM, OC_TYPE_FLOAT, &one, &sum, 1, &outcome));
    CHECK(rank_wait(rank, &outcome, 1, 70));
    CHECK(OC_OK == outcome.status && (float) rank->num_ranks == sum);
    CHECK(1 == rank->counters.allreduce_offloaded && 0 == rank->counters.failures);
}

/* A set-up that waits for another server longer than a job may be idle is not disturbed by it. */
static void test_slow_set_up(void **state)
{
    oc_job_settings_t settings;
    test_server_t other;
    char servers[160];
    ranks_t ranks;

    (void) state;
    server_start(&server, NULL);
    server_start(&other, NULL);
    snprintf(servers, sizeof(servers), "%s,%s", server.address, other.address);
    settings = test_settings(servers);
    settings.connect_timeout = 60;
    assert_int_equal(kill(other.pid, SIGSTOP), 0);
    ranks_start(&ranks, 2, &settings, body_patient, 80);
    assert_true(server_said(&server, "begins", 20000));
    assert_true(server_said(&server, "begins", 40000));
    usleep(6000000);
    assert_int_equal(kill(other.pid, SIGCONT), 0);
    assert_int_equal(ranks_wait(&ranks), 0);
    assert_int_equal(server_stop(&other), 0);
    assert_int_equal(server_stop(&server), 0);
}

int main(int argc, char **argv)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_secrets),
        cmocka_unit_test(test_upgrade),
        cmocka_unit_test(test_mode),
        cmocka_unit_test(test_start),
        cmocka_unit_test(test_hang),
        cmocka_unit_test(test_continued),
        cmocka_unit_test(test_idle),
        cmocka_unit_test(test_room),
        cmocka_unit_test(test_room_above),
        cmocka_unit_test(test_return),
        cmocka_unit_test(test_slow_set_up),
    };

    if (argc > 1) {
        cmocka_set_test_filter(argv[1]);
    }
    alarm(960);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
