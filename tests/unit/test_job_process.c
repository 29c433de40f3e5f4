/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Owns the unit tests of what the supervisor does with what a data process says, which somebody else
 * may have taken over. The test is that process; there are no cgroups.
 */
/* Test: quick 20 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "server/daemon/channel.h"
#include "server/daemon/job_process.h"

/* Far more answers than a channel has room for. */
#define QUESTIONS 20000u

static oc_loop_t loop;
static oc_cgroup_t no_cgroup = {.folder = -1};
static oc_job_process_t *process;
static int own;                /* the data process's end of the channel */
static unsigned bounds;        /* how often one was set */
static oc_cgroup_verdict_t verdict;
static unsigned lifts, warnings;
static oc_channel_message_t got;

/* ---- in the place of the system ---- */

pid_t oc_spawn(const oc_spawn_t *spawn, int channel, int processes)
{
    (void) spawn;
    (void) processes;
    own = dup(channel);
    return getpid();
}

void oc_bound_first(uint64_t memory_limit, unsigned aggregators, oc_bound_sizes_t *sizes)
{
    (void) memory_limit;
    (void) aggregators;
    *sizes = (oc_bound_sizes_t) {.bytes = 1 << 20, .high = 1 << 20, .max = 1 << 20};
}

void oc_bound_least(uint64_t memory_limit, unsigned aggregators, oc_bound_sizes_t *sizes)
{
    oc_bound_first(memory_limit, aggregators, sizes);
}

void oc_job_cgroup_open(oc_cgroup_t *cgroup, oc_job_cgroup_t *job, const oc_bound_sizes_t *sizes)
{
    (void) cgroup;
    (void) sizes;
    *job = (oc_job_cgroup_t) {.folder = -1, .processes = -1, .events = -1};
}

void oc_job_cgroup_entered(oc_job_cgroup_t *job)
{
    (void) job;
}

bool oc_job_cgroup_bound(oc_job_cgroup_t *job, const oc_bound_sizes_t *sizes)
{
    (void) job;
    (void) sizes;
    bounds++;
    return true;
}

void oc_job_cgroup_hear(const oc_job_cgroup_t *job)
{
    (void) job;
}

oc_cgroup_verdict_t oc_job_cgroup_judge(oc_job_cgroup_t *job, uint64_t *held, uint64_t *high)
{
    (void) job;
    *held = 101;
    *high = 100;
    return verdict;
}

void oc_job_cgroup_lift_high(const oc_job_cgroup_t *job)
{
    (void) job;
    lifts++;
}

bool oc_job_cgroup_was_killed(const oc_job_cgroup_t *job, uint64_t *max)
{
    (void) job;
    (void) max;
    return false;
}

void oc_job_cgroup_remove(oc_cgroup_t *cgroup, oc_job_cgroup_t *job)
{
    (void) cgroup;
    (void) job;
}

void oc_job_cgroup_close(oc_job_cgroup_t *job)
{
    (void) job;
}

/* ---- the data process ---- */

static int setup(void **state)
{
    static const oc_data_process_config_t config = {.aggregators = 1};
    static const oc_spawn_t spawn = {.program = -1};
    static const oc_hello_t hello;

    (void) state;
    bounds = lifts = warnings = 0;
    verdict = OC_CGROUP_FINE;
    assert_int_equal(oc_loop_open(&loop), OC_OK);
    process = oc_job_process_start(&loop, &hello, &spawn, &no_cgroup, &config);
    assert_non_null(process);
    assert_int_equal(oc_channel_receive(own, &got, NULL), 1);
    assert_int_equal(got.type, OC_CHANNEL_BEGIN);
    return 0;
}

static int teardown(void **state)
{
    (void) state;
    oc_job_process_free(process);
    oc_loop_close(&loop);
    close(own);
    return 0;
}

static void say(uint32_t type, uint32_t number, uint32_t length)
{
    static oc_channel_message_t message;

    message.type = type;
    message.number = number;
    message.length = length;
    assert_true(oc_channel_send(own, &message, -1));
    (void) oc_loop_once(&loop, 0);
}

/* The number of the last ECHO; all that there is has been read. */
static uint32_t last_echo(void)
{
    uint32_t number = 0;

    do {
        while (oc_channel_receive(own, &got, NULL) > 0) {
            assert_int_equal(got.type, OC_CHANNEL_ECHO);
            number = got.number;
        }
    } while (oc_loop_once(&loop, 0) > 0);
    return number;
}

static void test_echo(void **state)
{
    (void) state;
    for (uint32_t i = 1; i <= 10; i++) {
        say(OC_CHANNEL_ASK, i, 0);
        assert_int_equal(last_echo(), i);
    }
}

/* It asks and does not read: nothing grows, and the last question is answered. */
static void test_deaf(void **state)
{
    (void) state;
    for (uint32_t i = 1; i <= QUESTIONS; i++) {
        say(OC_CHANNEL_ASK, i, 0);
        assert_int_equal(process->queued, 0);
    }
    assert_true(process->owes_echo);
    assert_int_equal(last_echo(), QUESTIONS);
    assert_false(process->owes_echo);
}

/* Who still asks when no more clients can wait for it is given up. */
static void test_full(void **state)
{
    (void) state;
    while (oc_job_process_adopt(process, -1, (const uint8_t *) "hello", 5)) {
        continue;
    }
    assert_true(process->watch.fd >= 0 && process->queued > 0);
    say(OC_CHANNEL_ASK, 1, 0);
    assert_int_equal(process->watch.fd, -1);
    assert_int_equal(process->queued, 0);
}

static void say_bound(uint64_t high, uint64_t max, uint32_t length)
{
    oc_bound_sizes_t sizes = {.bytes = high, .high = high, .max = max};
    oc_channel_message_t message = {.type = OC_CHANNEL_BOUND, .length = length};

    memcpy(message.bytes, &sizes, sizeof(sizes));
    assert_true(oc_channel_send(own, &message, -1));
    (void) oc_loop_once(&loop, 0);
}

static void expect_given_up(void)
{
    assert_int_equal(bounds, 1);
    assert_int_equal(process->watch.fd, -1);
}

static void test_bound(void **state)
{
    (void) state;
    say_bound(1 << 20, 1 << 21, sizeof(oc_bound_sizes_t));
    assert_int_equal(bounds, 1);
    assert_true(process->watch.fd >= 0);
    say_bound(1 << 20, 1 << 21, sizeof(oc_bound_sizes_t) - 1);
    expect_given_up();
}

/* The kernel would take memory back for so long in the supervisor's name. */
static void test_low_bound(void **state)
{
    (void) state;
    say_bound(1 << 20, 1 << 21, sizeof(oc_bound_sizes_t));
    say_bound((1 << 20) - 1, 1 << 21, sizeof(oc_bound_sizes_t));
    expect_given_up();
}

static void count_warning(oc_log_level_t level, const char *line)
{
    warnings += OC_LOG_WARN == level && NULL != strstr(line, "may slow it down");
}

static void happen_in_cgroup(void)
{
    process->cgroup_watch.ready(&process->cgroup_watch, EPOLLPRI);
}

/* What the kernel can take back ends no job, but people hear of it, once. */
static void test_slowed(void **state)
{
    (void) state;
    happen_in_cgroup();
    assert_int_equal(warnings, 0);
    verdict = OC_CGROUP_SLOWED;
    happen_in_cgroup();
    happen_in_cgroup();
    assert_int_equal(warnings, 1);
    assert_int_equal(lifts, 0);
    assert_int_equal(oc_channel_receive(own, &got, NULL), 0);
}

/* What it cannot does, and the process is not slowed down while it tells why. */
static void test_over(void **state)
{
    oc_channel_over_t over;

    (void) state;
    verdict = OC_CGROUP_OVER;
    happen_in_cgroup();
    happen_in_cgroup();
    assert_int_equal(lifts, 1);
    assert_int_equal(oc_channel_receive(own, &got, NULL), 1);
    assert_int_equal(got.type, OC_CHANNEL_OVER);
    assert_int_equal(got.length, sizeof(over));
    memcpy(&over, got.bytes, sizeof(over));
    assert_int_equal(over.held, 101);
    assert_int_equal(over.bound, 100);
    assert_int_equal(oc_channel_receive(own, &got, NULL), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_echo, setup, teardown),
        cmocka_unit_test_setup_teardown(test_deaf, setup, teardown),
        cmocka_unit_test_setup_teardown(test_full, setup, teardown),
        cmocka_unit_test_setup_teardown(test_bound, setup, teardown),
        cmocka_unit_test_setup_teardown(test_low_bound, setup, teardown),
        cmocka_unit_test_setup_teardown(test_slowed, setup, teardown),
        cmocka_unit_test_setup_teardown(test_over, setup, teardown),
    };

    oc_log_set_sink(count_warning);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
