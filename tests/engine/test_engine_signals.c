/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Owns the test that signals are the application's: no thread that the service has in a rank, UCX's
 * included, takes one.
 */
/* Test: quick 60 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <dirent.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tests/engine/harness.h"

/* All that can be blocked: not SIGKILL and SIGSTOP, nor the two of the C library. */
#define ALL_BLOCKED (~(UINT64_C(1) << (SIGKILL - 1) | UINT64_C(1) << (SIGSTOP - 1) \
                       | UINT64_C(3) << 31))

static const int numbers[] = {SIGUSR1, SIGUSR2, SIGALRM, SIGTERM, SIGPROF, SIGCHLD};
#define NUMBERS (sizeof(numbers) / sizeof(numbers[0]))

static atomic_uint here, elsewhere;
static pid_t main_thread;

static void on_signal(int number)
{
    (void) number;
    if (main_thread == (pid_t) syscall(SYS_gettid)) {
        atomic_fetch_add(&here, 1);
    } else {
        atomic_fetch_add(&elsewhere, 1);
    }
}

static uint64_t blocked_in(const char *thread, char name[64])
{
    unsigned long long mask = 0;
    char path[64], line[256];
    FILE *file;

    snprintf(path, sizeof(path), "/proc/self/task/%.16s/status", thread);
    file = fopen(path, "r");
    while (NULL != file && NULL != fgets(line, sizeof(line), file)) {
        (void) sscanf(line, "SigBlk: %llx", &mask);
        (void) sscanf(line, "Name: %63s", name);
    }
    if (NULL != file) {
        fclose(file);
    }
    return mask;
}

/* How many threads there are beside this one; all of them block everything. */
static unsigned check_masks(rank_t *rank)
{
    DIR *folder = opendir("/proc/self/task");
    struct dirent *entry;
    unsigned count = 0;
    char name[64];

    CHECK(NULL != folder);
    while (NULL != (entry = readdir(folder))) {
        if ('.' != entry->d_name[0] && main_thread != (pid_t) atoi(entry->d_name)) {
            uint64_t mask = blocked_in(entry->d_name, name);

            if (ALL_BLOCKED != (mask & ALL_BLOCKED)) {
                fprintf(stderr, "thread %s blocks only %llx\n", name, (unsigned long long) mask);
            }
            CHECK(ALL_BLOCKED == (mask & ALL_BLOCKED));
            count++;
        }
    }
    closedir(folder);
    return count;
}

static sigset_t all_numbers(void)
{
    sigset_t set;

    sigemptyset(&set);
    for (size_t i = 0; i < NUMBERS; i++) {
        sigaddset(&set, numbers[i]);
    }
    return set;
}

/* While this thread takes none, nobody does: they wait for it. */
static void send_signals(rank_t *rank)
{
    sigset_t set = all_numbers(), pending, now;
    float one = 1, sum = 0;

    sigprocmask(SIG_BLOCK, &set, NULL);
    for (size_t i = 0; i < NUMBERS; i++) {
        CHECK(0 == kill(getpid(), numbers[i]));
    }
    CHECK(OC_OK == rank_allreduce(rank, 0, OC_OP_SUM, OC_TYPE_FLOAT, &one, &sum, 1));
    usleep(20000);
    CHECK(0 == atomic_load(&here) && 0 == atomic_load(&elsewhere));
    sigpending(&pending);
    for (size_t i = 0; i < NUMBERS; i++) {
        CHECK(1 == sigismember(&pending, numbers[i]));
    }
    sigprocmask(SIG_UNBLOCK, &set, NULL);
    CHECK(NUMBERS == atomic_load(&here) && 0 == atomic_load(&elsewhere));
    /* what this thread blocks is its own affair, too */
    sigprocmask(SIG_SETMASK, NULL, &now);
    for (size_t i = 0; i < NUMBERS; i++) {
        CHECK(0 == sigismember(&now, numbers[i]));
    }
}

static void body(rank_t *rank)
{
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
    float one = 1, sum = 0;

    main_thread = (pid_t) syscall(SYS_gettid);
    for (size_t i = 0; i < NUMBERS; i++) {
        CHECK(0 == sigaction(numbers[i], &action, NULL));
    }
    CHECK(OC_OK == rank_allreduce(rank, 0, OC_OP_SUM, OC_TYPE_FLOAT, &one, &sum, 1));
    CHECK(rank->num_ranks == sum);
    /* UCX's; with an embedded server its two, and UCX's */
    CHECK(check_masks(rank) >= 1);
    send_signals(rank);
}

static void test_server(void **state)
{
    oc_job_settings_t settings;
    test_server_t server;

    (void) state;
    server_start(&server, NULL);
    settings = test_settings(server.address);
    assert_true(ranks_succeed(&server, 2, &settings, body, 30));
}

static void test_embedded(void **state)
{
    oc_job_settings_t settings = test_settings("embedded");

    (void) state;
    assert_int_equal(ranks_run(2, &settings, body, 30), 0);
}

int main(int argc, char **argv)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_server),
        cmocka_unit_test(test_embedded),
    };

    if (argc > 1) {
        cmocka_set_test_filter(argv[1]);
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
