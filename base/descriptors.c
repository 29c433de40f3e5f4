/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One bit for each descriptor. The child looks at them in a handler of fork, where it is the only
 * thread and may call next to nothing: reading bits and closing is all it does. The C library
 * forgets the handlers when the library that they are in is unloaded.
 *
 * Not reached are children of clone and vfork, which either share their parent's descriptors or go
 * on to exec, and descriptors of numbers that Linux does not give unless fs.nr_open was raised.
 */
#include "base/descriptors.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <unistd.h>

#define MAX_DESCRIPTORS (1u << 20)
#define BITS            64u

static _Atomic uint64_t own[MAX_DESCRIPTORS / BITS];
static atomic_uint words;          /* of these, the first ones may have bits */

/* Held while a descriptor is made, and while the process forks: none is made and not yet marked. */
static pthread_mutex_t making = PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP;
static unsigned held_before;       /* so many forks have begun in the thread that holds it */

/*
 * A handler of a signal may fork in the middle of oc_fd_make or of another fork: then this thread
 * holds it already.
 */
static void before_fork(void)
{
    if (0 != pthread_mutex_lock(&making)) {
        held_before++;
    }
}

static void after_fork(void)
{
    if (held_before > 0) {
        held_before--;
    } else {
        (void) pthread_mutex_unlock(&making);
    }
}

static void in_child(void)
{
    static const pthread_mutex_t fresh = PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP;
    unsigned count = atomic_load(&words);

    for (unsigned word = 0; word < count; word++) {
        uint64_t bits = atomic_exchange(&own[word], 0);

        for (; 0 != bits; bits &= bits - 1) {
            (void) close((int) (word * BITS + (unsigned) __builtin_ctzll(bits)));
        }
    }
    /* its owner was a thread of the parent */
    making = fresh;
    held_before = 0;
}

static void descriptors_install(void)
{
    (void) pthread_atfork(before_fork, after_fork, in_child);
}

void oc_fd_guard(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    (void) pthread_once(&once, descriptors_install);
}

void oc_fd_hold(void)
{
    (void) pthread_mutex_lock(&making);
}

static void descriptors_mark(unsigned fd)
{
    unsigned count = atomic_load(&words), wanted = fd / BITS + 1;

    while (count < wanted && !atomic_compare_exchange_weak(&words, &count, wanted)) {
        continue;
    }
    atomic_fetch_or(&own[fd / BITS], UINT64_C(1) << fd % BITS);
}

int oc_fd_keep(int fd)
{
    int saved = errno;

    if (fd >= 0 && (unsigned) fd < MAX_DESCRIPTORS) {
        descriptors_mark((unsigned) fd);
    }
    (void) pthread_mutex_unlock(&making);
    errno = saved;
    return fd;
}

/* The mark goes first: afterwards the number may be somebody else's at once. */
void oc_fd_close(int fd)
{
    int saved = errno;

    if (fd >= 0 && (unsigned) fd < MAX_DESCRIPTORS) {
        atomic_fetch_and(&own[(unsigned) fd / BITS], ~(UINT64_C(1) << (unsigned) fd % BITS));
    }
    (void) close(fd);
    errno = saved;
}
