/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Owns the unit tests of descriptors that no child keeps: all of them and no other ones, also when
 * another thread is just making one, and not after the library was unloaded.
 */
/* Test: quick 30; threads: default 30 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/descriptors.h"

static bool is_open(int fd)
{
    return fcntl(fd, F_GETFD) >= 0;
}

/* At once: a sanitizer would look for the threads of the parent. */
static void __attribute__((noreturn)) leave(int status)
{
    for (;;) {
        (void) syscall(SYS_exit_group, status);
    }
}

/* Whether a child that is forked now has the descriptor. */
static bool child_has(int fd)
{
    int status;
    pid_t pid = fork();

    assert_true(pid >= 0);
    if (0 == pid) {
        leave(is_open(fd));
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    return 0 != WEXITSTATUS(status);
}

static void test_own(void **state)
{
    int own = oc_fd_make(eventfd(0, 0)), other = eventfd(0, 0);

    (void) state;
    assert_true(own >= 0);
    assert_false(child_has(own));
    assert_true(child_has(other));
    assert_true(is_open(own));
    /* again and again */
    assert_false(child_has(own));
    oc_fd_close(own);
    assert_false(is_open(own));
    close(other);
}

/* The next owner of the number is somebody else. */
static void test_number_again(void **state)
{
    int own = oc_fd_make(eventfd(0, 0)), again;

    (void) state;
    oc_fd_close(own);
    again = eventfd(0, 0);
    assert_int_equal(again, own);
    assert_true(child_has(again));
    close(again);
}

static void test_errors(void **state)
{
    (void) state;
    errno = 0;
    assert_int_equal(oc_fd_make(open("/no such file", O_RDONLY)), -1);
    assert_int_equal(errno, ENOENT);
    oc_fd_close(-1);
    oc_fd_close(1 << 20);
    assert_int_equal(errno, ENOENT);
}

static void test_high_numbers(void **state)
{
    struct rlimit limit;
    int low = eventfd(0, 0), high;

    (void) state;
    getrlimit(RLIMIT_NOFILE, &limit);
    high = oc_fd_make(fcntl(low, F_DUPFD, (int) limit.rlim_cur - 5));
    assert_true(high > 500);
    assert_false(child_has(high));
    assert_true(child_has(low));
    oc_fd_close(high);
    close(low);
}

/* The child of a child has nothing to close, and marks its own. */
static void test_grandchild(void **state)
{
    int own = oc_fd_make(eventfd(0, 0)), status, mine;
    pid_t pid = fork();

    (void) state;
    if (0 == pid) {
        mine = eventfd(0, 0);
        if (mine != own || !child_has(mine)) {
            leave(1);
        }
        close(mine);
        mine = oc_fd_make(eventfd(0, 0));
        leave(child_has(mine));
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    oc_fd_close(own);
}

static atomic_int made = -1;

static int make_slowly(void)
{
    int fd = eventfd(0, 0);

    atomic_store(&made, fd);
    usleep(300000);
    return fd;
}

static void *maker(void *arg)
{
    *(int *) arg = oc_fd_make(make_slowly());
    return NULL;
}

/* Another thread has one, but it is not marked yet. */
static void test_in_the_middle(void **state)
{
    pthread_t thread;
    int fd = -1;

    (void) state;
    assert_int_equal(pthread_create(&thread, NULL, maker, &fd), 0);
    while (atomic_load(&made) < 0) {
        usleep(100);
    }
    assert_false(child_has(atomic_load(&made)));
    assert_int_equal(pthread_join(thread, NULL), 0);
    oc_fd_close(fd);
}

static volatile sig_atomic_t handled;

static void forking_handler(int number)
{
    pid_t pid;

    (void) number;
    pid = fork();
    if (0 == pid) {
        leave(0);
    }
    (void) waitpid(pid, NULL, 0);
    handled = 1;
}

static int make_interrupted(void)
{
    raise(SIGUSR1);
    return eventfd(0, 0);
}

/* A handler may fork wherever it comes; it must not wait for the thread that it runs on. */
static void test_in_a_handler(void **state)
{
    int fd;

    (void) state;
    signal(SIGUSR1, forking_handler);
    fd = oc_fd_make(make_interrupted());
    assert_true(handled);
    assert_false(child_has(fd));
    oc_fd_close(fd);
    signal(SIGUSR1, SIG_DFL);
}

/* Handlers of a library that has gone would be calls of nothing. */
static void test_unloaded(void **state)
{
    void *guest;
    int (*enter)(void);
    void (*go)(int fd);
    int fd, other;

    (void) state;
    for (int i = 0; i < 3; i++) {
        guest = dlopen(GUEST, RTLD_NOW | RTLD_LOCAL);
        if (NULL == guest) {
            fail_msg("%s", dlerror());
        }
        *(void **) &enter = dlsym(guest, "guest_enter");
        *(void **) &go = dlsym(guest, "guest_leave");
        assert_true(NULL != enter && NULL != go);
        fd = enter();
        assert_true(fd >= 0);
        assert_false(child_has(fd));
        go(fd);
        assert_int_equal(dlclose(guest), 0);
        assert_null(dlopen(GUEST, RTLD_NOW | RTLD_NOLOAD));
        other = eventfd(0, 0);
        assert_true(child_has(other));
        close(other);
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_own),           cmocka_unit_test(test_number_again),
        cmocka_unit_test(test_errors),        cmocka_unit_test(test_high_numbers),
        cmocka_unit_test(test_grandchild),    cmocka_unit_test(test_in_the_middle),
        cmocka_unit_test(test_in_a_handler),  cmocka_unit_test(test_unloaded),
    };

    alarm(30);
    oc_fd_guard();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
