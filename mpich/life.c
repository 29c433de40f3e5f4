/* SPDX-License-Identifier: BSD-3-Clause */
/* Begin and end of the library in this process. */
#include "mpich/life.h"

#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

#include "base/log.h"

#include "mpich/comm.h"
#include "mpich/pmpi.h"
#include "mpich/report.h"
#include "mpich/mpich_settings.h"
#include "mpich/state.h"

typedef enum { NOT_BEGUN, ON, OFF } phase_t;

static _Atomic(phase_t) phase;

/* MPI_Finalize has been called. */
static atomic_bool ending;

/*
 * In MPI_Finalize, before or after the program's own callbacks of this kind, which may have collectives: so nothing
 * is decided in another way from now on. Others may not be there yet, and need what this process serves: that
 * goes on until the process exits, since MPI_Finalize returns when all have called it.
 */
static int life_end(MPI_Comm comm, int keyval, void *value, void *extra)
{
    (void) comm;
    (void) keyval;
    (void) value;
    (void) extra;
    atomic_store(&ending, true);
    oc_mpich_report_summary();
    return MPI_SUCCESS;
}

/* Of the process that began, and not of a child that it has forked. */
static __attribute__((destructor)) void life_exit(void)
{
    oc_mpich_state_t *st = &oc_mpich_state;

    if (atomic_load(&ending) && NULL != st->client && getpid() == st->process) {
        oc_client_destroy(st->client);
        st->client = NULL;
    }
}

static bool register_end(void)
{
    int keyval;

    return MPI_SUCCESS == PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, life_end, &keyval, NULL)
           && MPI_SUCCESS == PMPI_Comm_set_attr(MPI_COMM_SELF, keyval, NULL)
           && MPI_SUCCESS == PMPI_Comm_free_keyval(&keyval);
}

/* The highest tag that the library has: what no message is sent with can be looked for. */
static int unused_tag(void)
{
    int *highest = NULL, found = 0;

    (void) PMPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &highest, &found);
    return found ? *highest : 32767;
}

static void read_settings(oc_mpich_state_t *st)
{
    char error[1024];

    st->settings_valid = oc_mpich_settings_read(&st->settings, error, sizeof(error));
    oc_mpich_report_open();
    if (!st->settings_valid) {
        oc_warn("%s; nothing is offloaded", error);
    }
    if (OC_PROGRESS_MPI == st->settings.progress && 0 != st->rank) {
        st->settings.progress = OC_PROGRESS_THREAD;
    }
    if (OC_PROGRESS_MPI == st->settings.progress) {
        oc_warn("OPTCAST_PROGRESS is thread under MPICH: while a program is in MPICH's own functions, "
                "nobody else would move its nonblocking collectives on");
        st->settings.progress = OC_PROGRESS_THREAD;
    }
}

static void life_begin(void)
{
    oc_mpich_state_t *st = &oc_mpich_state;
    int rank, ranks, level = MPI_THREAD_SINGLE;

    (void) PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    (void) PMPI_Comm_size(MPI_COMM_WORLD, &ranks);
    (void) PMPI_Query_thread(&level);
    st->rank = (uint32_t) rank;
    st->ranks = (uint32_t) ranks;
    st->concurrent = MPI_THREAD_MULTIPLE == level;
    st->tag = unused_tag();
    st->process = getpid();
    read_settings(st);
    oc_terms_default(&st->terms);
    oc_terms_read_network(&st->network);
    st->keyval = oc_mpich_comm_make_keyval();
    atomic_store(&phase, MPI_KEYVAL_INVALID != st->keyval && register_end() ? ON : OFF);
}

bool oc_mpich_life_is_on(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    int initialized = 0, finalized = 0;

    if (NOT_BEGUN == atomic_load_explicit(&phase, memory_order_acquire)) {
        (void) PMPI_Initialized(&initialized);
        (void) PMPI_Finalized(&finalized);
        if (initialized && !finalized) {
            (void) pthread_once(&once, life_begin);
        }
    }
    return ON == atomic_load_explicit(&phase, memory_order_acquire);
}
