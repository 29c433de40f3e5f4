/* SPDX-License-Identifier: BSD-3-Clause */
/* The terms of the job and the client, once in a process, and what moves it on. */
#include "mpich/state.h"

#include <unistd.h>

#include "adapter/launcher.h"
#include "base/log.h"

#include "mpich/pmpi.h"
#include "mpich/mpich_settings.h"

/* Rounds of a wait from one look at MPICH to the next. */
#define PROBE_ROUNDS 8

oc_mpich_state_t oc_mpich_state = {.lock = PTHREAD_MUTEX_INITIALIZER,
                                   .keyval = MPI_KEYVAL_INVALID,
                                   .mode = OC_MPICH_MODE_OF_JOB};

/* Ranks of this host, if the launcher says; 0: it does not. */
static int local_ranks(void)
{
    return oc_launcher_local_ranks(oc_mpich_state.rank, oc_mpich_state.ranks);
}

void oc_mpich_state_make_terms(void)
{
    oc_mpich_state_t *st = &oc_mpich_state;
    uint64_t previous[OC_NUM_RULED] = {0}; /* nobody knows what MPICH does: its fastest */
    int here = local_ranks();
    oc_terms_basis_t basis = {.settings = &st->settings, .network = &st->network,
                              .hosts = st->ranks - (uint32_t) (here > 0 ? here - 1 : 0),
                              .ranks = st->ranks, .previous = previous};
    char error[1024];
    oc_status_t status = OC_OK;

    pthread_mutex_lock(&st->lock);
    if (0 == st->rank && !atomic_load(&st->has_terms)) {
        status = oc_terms_make(&basis, &st->terms, error, sizeof(error));
        atomic_store(&st->has_terms, OC_ERR_SYSTEM != status);
    }
    pthread_mutex_unlock(&st->lock);
    if (OC_ERR_INVALID == status) {
        oc_warn("%s; set OPTCAST_RULES to a file of rules, or to nothing. The built-in model decides "
                "what mode auto offloads", error);
    }
}

void oc_mpich_state_take_terms(const oc_terms_t *terms)
{
    oc_mpich_state_t *st = &oc_mpich_state;
    char names[256] = "";

    pthread_mutex_lock(&st->lock);
    if (!atomic_load(&st->has_terms)
        && OC_OK == oc_terms_take(terms, sizeof(*terms), &st->terms)) {
        oc_terms_impose(&st->terms, &st->settings, OC_MPICH_PREFIX, names, sizeof(names));
        atomic_store(&st->has_terms, true);
    }
    pthread_mutex_unlock(&st->lock);
    if ('\0' != names[0] && st->settings_valid) {
        oc_warn("this process (%u of the job) has other values of %s than process 0; those of process 0 "
                "are used", st->rank, names);
    }
}

static void make_client(bool several_hosts)
{
    oc_mpich_state_t *st = &oc_mpich_state;
    int here = local_ranks();
    long spare = sysconf(_SC_NPROCESSORS_ONLN) - (here > 0 ? here : 1);
    oc_client_config_t config = {
        .settings = &st->settings,
        .counters = &st->counters.engine,
        .process = st->rank,
        .spans_hosts = here > 0 ? (uint32_t) here < st->ranks : several_hosts || st->ranks > 1,
        .max_hosts = here > 0 ? st->ranks - (uint32_t) here + 1 : 0,
        .network = st->network,
        .full_host = spare < 1,
        .unattended = true,
        .processors = oc_launcher_processors(here > 0 ? here : 1),
    };

    if (OC_OK == oc_client_create(&config, &st->client)) {
        st->crowding.yields = OC_POLLING_YIELD == st->settings.local.polling;
        st->crowding.oversubscribed = spare < (oc_client_embeds(st->client) ? 1 : 0);
    }
}

void oc_mpich_state_make_client(bool several_hosts)
{
    oc_mpich_state_t *st = &oc_mpich_state;

    pthread_mutex_lock(&st->lock);
    if (NULL == st->client) {
        make_client(several_hosts);
    }
    pthread_mutex_unlock(&st->lock);
}

/*
 * A probe for a message that nobody sends is what moves MPICH on at the least cost. It has to be on a
 * communicator with others: on MPI_COMM_SELF it does nothing. It takes longer than our own progress where there is
 * nothing to do, so it comes after each sleep, and only seldom between them.
 */
void oc_mpich_progress(oc_patience_t *patience)
{
    static _Thread_local unsigned rounds;
    oc_mpich_state_t *st = &oc_mpich_state;
    bool slept = OC_POLLING_BUSY != st->settings.local.polling
                 && oc_patience_nap(patience, st->client, st->crowding);
    int found;

    (void) oc_client_progress(st->client);
    if (slept || 0 == ++rounds % PROBE_ROUNDS) {
        (void) PMPI_Iprobe(MPI_ANY_SOURCE, st->tag, MPI_COMM_WORLD, &found, MPI_STATUS_IGNORE);
    }
}

void oc_mpich_count_fallback(oc_fallback_t reason)
{
    oc_count_fallback(&oc_mpich_state.counters, reason, oc_mpich_state.concurrent);
}

void oc_mpich_count_copied(size_t bytes)
{
    (void) __atomic_fetch_add(&oc_mpich_state.counters.engine.bytes_copied, bytes, __ATOMIC_RELAXED);
}
