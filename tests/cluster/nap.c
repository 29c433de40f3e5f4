/* SPDX-License-Identifier: BSD-3-Clause */
/* Owns the naps of MPI libraries that poll: preloaded, it makes them sleep NAP_MICROSECONDS (100)
 * where they look for messages in vain, so that many ranks can share few cores.
 *
 * Open MPI calls sched_yield then (with mpi_yield_when_idle), MPICH over UCX only ucp_worker_progress. What
 * liboptcast-mpich.so calls of these is no concern of MPICH's: it has naps of its own.
 */
#include <dlfcn.h>
#include <link.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>

/* Fruitless calls of ucp_worker_progress before a nap. */
enum { IDLE_CALLS = 20 };

static struct timespec nap_time = {0, 100000};

/* Where that library is; none: nowhere. */
static uintptr_t exempt_begin, exempt_end;

static int find_exempt(struct dl_phdr_info *info, size_t size, void *arg)
{
    (void) size;
    (void) arg;
    if (NULL == strstr(info->dlpi_name, "liboptcast-mpich.so")) {
        return 0;
    }
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
        uintptr_t end = info->dlpi_addr + segment->p_vaddr + segment->p_memsz;

        if (PT_LOAD == segment->p_type && end > exempt_end) {
            exempt_end = end;
        }
    }
    exempt_begin = info->dlpi_addr;
    return 1;
}

static bool is_exempt(const void *caller)
{
    return (uintptr_t) caller >= exempt_begin && (uintptr_t) caller < exempt_end;
}

__attribute__((constructor)) static void nap_begin(void)
{
    const char *text = getenv("NAP_MICROSECONDS");
    long microseconds = NULL == text ? 0 : atol(text);

    if (microseconds > 0) {
        nap_time.tv_sec = microseconds / 1000000;
        nap_time.tv_nsec = microseconds % 1000000 * 1000;
    }
    (void) dl_iterate_phdr(find_exempt, NULL);
    /* a sleep is 50 us longer by default */
    (void) prctl(PR_SET_TIMERSLACK, 1000, 0, 0, 0);
}

typedef int (*yield_t)(void);

int sched_yield(void)
{
    if (is_exempt(__builtin_return_address(0))) {
        return ((yield_t) dlsym(RTLD_NEXT, "sched_yield"))();
    }
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
    if (is_exempt(__builtin_return_address(0))) {
        return count;
    }
    if (0 != count) {
        idle = 0;
    } else if (++idle >= IDLE_CALLS) {
        idle = 0;
        (void) nanosleep(&nap_time, NULL);
    }
    return count;
}
