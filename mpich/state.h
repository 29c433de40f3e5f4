/* SPDX-License-Identifier: BSD-3-Clause */
/* What the library has in this process, for all communicators. */
#ifndef OC_MPICH_STATE_H
#define OC_MPICH_STATE_H

#include <mpi.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "adapter/counters.h"
#include "adapter/patience.h"
#include "adapter/terms.h"
#include "base/settings.h"
#include "client/client.h"

enum { OC_MPICH_MODE_OF_JOB = -1 };

typedef struct {
    oc_job_settings_t settings;
    bool settings_valid;
    bool concurrent;            /* threads may call MPI at the same time */
    int keyval;                 /* of communicators: oc_mpich_comm_t */
    int tag;                    /* that no program uses: see progress */
    pid_t process;              /* that began */
    uint32_t rank, ranks;       /* in MPI_COMM_WORLD, and how many there are */
    oc_network_t network;       /* of this host */
    pthread_mutex_t lock;       /* of what comes, and of the making of the client */
    oc_terms_t terms;
    atomic_int mode;            /* oc_mode_t of communicators to come, or OC_MPICH_MODE_OF_JOB */
    atomic_bool has_terms;      /* and the client */
    oc_client_t *client;        /* NULL: this process can take part in nothing */
    oc_crowding_t crowding;
    oc_adapter_counters_t counters;
} oc_mpich_state_t;

extern oc_mpich_state_t oc_mpich_state;

/*
 * Makes the terms of the job, on process 0 of MPI_COMM_WORLD, or takes them over from another
 * process; then makes the client. hosts: the communicator in which that happens is on several. Any
 * thread; does nothing if they are known.
 */
void oc_mpich_state_make_terms(void);
void oc_mpich_state_take_terms(const oc_terms_t *terms);
void oc_mpich_state_make_client(bool several_hosts);

/* Moves the engine and MPICH on. Threads of the program only, and without locks. */
void oc_mpich_progress(oc_patience_t *patience);

void oc_mpich_count_fallback(oc_fallback_t reason);
void oc_mpich_count_copied(size_t bytes);

#endif
