/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Part of each test program: a rank that waits in Open MPI sleeps where it would only yield the
 * processor. Linux 6.18 lets two processes that do nothing but yield have a processor to themselves
 * for many seconds, while others want it: ranks that are waited for, servers, watchers of time.
 * A test that counts how often ranks sleep sets OPTCAST_TEST_YIELDS: then they only yield.
 */
#include <sched.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* Instead of libc's, also for libraries: the program exports it. */
int sched_yield(void)
{
    static const struct timespec nap = {.tv_nsec = 50000};

    if (NULL != getenv("OPTCAST_TEST_YIELDS")) {
        return (int) syscall(SYS_sched_yield);
    }
    (void) nanosleep(&nap, NULL);
    return 0;
}
