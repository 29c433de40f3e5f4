/* SPDX-License-Identifier: BSD-3-Clause */
/* Owns the naps of MPI libraries that poll: preloaded, it makes them sleep NAP_MICROSECONDS (100)
 * where they look for messages in vain, so that many ranks can share few cores.
 *
 * Open MPI calls sched_yield then (with mpi_yield_when_idle), MPICH over UCX only ucp_worker_progress.
 */
#include <dlfcn.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <time.h>

/* Fruitless calls of ucp_worker_progress before a nap. */
enum { IDLE_CALLS = 20 };

static struct timespec nap_time = {0, 100000};

__attribute__((constructor)) static void nap_begin(void)
{
    const char *text = getenv("NAP_MICROSECONDS");
    long microseconds = NULL == text ? 0 : atol(text);

    if (microseconds > 0) {
        nap_time.tv_sec = microseconds / 1000000;
        nap_time.tv_nsec = microseconds % 1000000 * 1000;
    }
    /* a sleep is 50 us longer by default */
    (void) prctl(PR_SET_TIMERSLACK, 1000, 0, 0, 0);
}

int sched_yield(void)
{
    (void) nanosleep(&nap_time, NULL);
    return 0;
}

typedef unsigned (*progress_t)(void *);

/* UCX may be there only through a plugin, where RTLD_NEXT does not look. */
static progress_t find_progress(void)
{
    void *symbol = dlsym(RTLD_NEXT, "ucp_worker_progress");
    void *library = NULL == symbol ? dlopen("libucp.so.0", RTLD_NOW | RTLD_NOLOAD) : NULL;

    if (NULL != library) {
        symbol = dlsym(library, "ucp_worker_progress");
    }
    return (progress_t) symbol;
}

unsigned ucp_worker_progress(void *worker)
{
    static progress_t progress;
    static _Thread_local unsigned idle;
    unsigned count;

    if (NULL == progress) {
        progress = find_progress();
        if (NULL == progress) {
            abort();
        }
    }
    count = progress(worker);
    if (0 != count) {
        idle = 0;
    } else if (++idle >= IDLE_CALLS) {
        idle = 0;
        (void) nanosleep(&nap_time, NULL);
    }
    return count;
}
