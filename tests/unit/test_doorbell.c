/* SPDX-License-Identifier: BSD-3-Clause */
/* Waking processes: rings are heard once, never block, and never lead anywhere else. */
/* Test: quick 120 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <poll.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "node/doorbell.h"

static oc_doorbell_t *hang_up(void)
{
    oc_doorbell_t *bell = NULL;
    char error[256];

    assert_int_equal(oc_doorbell_open(&bell, error, sizeof(error)), OC_OK);
    return bell;
}

static bool is_readable(const oc_doorbell_t *bell, int timeout_ms)
{
    struct pollfd event = {.fd = oc_doorbell_fd(bell), .events = POLLIN};

    return 1 == poll(&event, 1, timeout_ms);
}

static void test_rings(void **state)
{
    oc_doorbell_t *one = hang_up(), *two = hang_up();
    uint8_t name[OC_DOORBELL_NAME_SIZE], other[OC_DOORBELL_NAME_SIZE];

    (void) state;
    oc_doorbell_name(one, name);
    oc_doorbell_name(two, other);
    assert_memory_not_equal(name, other, sizeof(name));
    assert_false(is_readable(one, 0));
    assert_false(oc_doorbell_listen(one));
    assert_int_equal(oc_doorbell_ring(two, name), OC_OK);
    assert_true(is_readable(one, 0));
    assert_false(is_readable(two, 0));
    assert_true(oc_doorbell_listen(one));
    assert_false(is_readable(one, 0));
    assert_false(oc_doorbell_listen(one));
    oc_doorbell_close(one);
    oc_doorbell_close(two);
}

/* More rings than a queue holds are as good as one. */
static void test_many_rings(void **state)
{
    oc_doorbell_t *one = hang_up(), *two = hang_up();
    uint8_t name[OC_DOORBELL_NAME_SIZE];

    (void) state;
    alarm(10);
    oc_doorbell_name(one, name);
    for (int i = 0; i < 10000; i++) {
        assert_int_equal(oc_doorbell_ring(two, name), OC_OK);
    }
    alarm(0);
    while (oc_doorbell_listen(one)) {
        continue;
    }
    assert_false(is_readable(one, 0));
    assert_int_equal(oc_doorbell_ring(two, name), OC_OK);
    assert_true(oc_doorbell_listen(one));
    oc_doorbell_close(one);
    oc_doorbell_close(two);
}

#define BELLS 60

/* Rings that nobody hears, all from one: queues together hold more than a sender may have there. */
static void test_many_bells(void **state)
{
    oc_doorbell_t *bells[BELLS], *own = hang_up();
    uint8_t name[OC_DOORBELL_NAME_SIZE];

    (void) state;
    for (int i = 0; i < BELLS; i++) {
        bells[i] = hang_up();
        oc_doorbell_name(bells[i], name);
        for (int ring = 0; ring < 20; ring++) {
            assert_int_equal(oc_doorbell_ring(own, name), OC_OK);
        }
        assert_true(is_readable(bells[i], 0));
    }
    for (int i = 0; i < BELLS; i++) {
        oc_doorbell_close(bells[i]);
    }
    oc_doorbell_close(own);
}

/* Neither the sender's socket nor another one can ring: it may be tried again. */
static void test_no_descriptors(void **state)
{
    oc_doorbell_t *one = hang_up(), *two = hang_up();
    struct rlimit limit, none = {0};
    uint8_t name[OC_DOORBELL_NAME_SIZE];
    oc_status_t status = OC_OK;

    (void) state;
    oc_doorbell_name(one, name);
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
    none.rlim_max = limit.rlim_max;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
    for (int i = 0; i < 10000 && OC_OK == status; i++) {
        status = oc_doorbell_ring(two, name);
    }
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
    assert_int_equal(status, OC_IN_PROGRESS);
    oc_doorbell_close(one);
    oc_doorbell_close(two);
}

static void test_find(void **state)
{
    oc_doorbell_t *one = hang_up();
    uint8_t name[OC_DOORBELL_NAME_SIZE];

    (void) state;
    oc_doorbell_name(one, name);
    assert_int_equal(oc_doorbell_find(name), OC_OK);
    assert_false(is_readable(one, 0));
    name[3] ^= 1;
    assert_int_equal(oc_doorbell_find(name), OC_ERR_UNREACHABLE);
    oc_doorbell_close(one);
}

static void test_nobody_there(void **state)
{
    oc_doorbell_t *one = hang_up(), *two = hang_up();
    uint8_t name[OC_DOORBELL_NAME_SIZE];

    (void) state;
    oc_doorbell_name(one, name);
    oc_doorbell_close(one);
    assert_int_equal(oc_doorbell_ring(two, name), OC_ERR_UNREACHABLE);
    memset(name, 0, sizeof(name));
    assert_int_equal(oc_doorbell_ring(two, name), OC_ERR_UNREACHABLE);
    oc_doorbell_close(two);
    oc_doorbell_close(NULL);
}

static void test_other_process(void **state)
{
    oc_doorbell_t *one = hang_up(), *two;
    uint8_t name[OC_DOORBELL_NAME_SIZE];
    int status;
    pid_t pid;

    (void) state;
    oc_doorbell_name(one, name);
    pid = fork();
    if (0 == pid) {
        two = hang_up();
        usleep(20000);
        _exit(OC_OK == oc_doorbell_ring(two, name) ? 0 : 1);
    }
    assert_true(is_readable(one, 5000));
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    oc_doorbell_close(one);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rings),
        cmocka_unit_test(test_many_rings),
        cmocka_unit_test(test_many_bells),
        cmocka_unit_test(test_no_descriptors),
        cmocka_unit_test(test_find),
        cmocka_unit_test(test_nobody_there),
        cmocka_unit_test(test_other_process),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
