/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the library knows of a communicator, from its first collective until it is freed and all of its
 * operations are over. Threads: MPI lets no two collectives of a communicator run at the same time, but
 * for nonblocking ones that have been started.
 */
#ifndef OC_MPICH_COMM_H
#define OC_MPICH_COMM_H

#include <mpi.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "client/client.h"

#include "mpich/exchange.h"
#include "mpich/left.h"

enum { OC_MPICH_NUM_SERVICES = OC_SERVICE_MULTICAST + 1 };

/* What serves a communicator, for some of its collectives. */
typedef struct {
    oc_group_t *group;          /* NULL: there will be none */
    bool wanted;                /* a nonblocking operation would have used it */
    oc_mpich_exchange_t exchange;
    atomic_bool told;           /* how the set-up ended */
    atomic_bool failure_told;
} oc_mpich_service_t;

/* How far the ranks of a communicator have come in getting to know each other. */
typedef enum {
    OC_MEETING_NONE,            /* they know nothing, and try in a blocking collective */
    OC_MEETING_MET,             /* they have the terms of the job */
    OC_MEETING_PLACED,          /* they know where they are, and have groups */
    OC_MEETING_REFUSED,         /* they cannot have the same terms */
} oc_mpich_meeting_t;

typedef struct oc_mpich_comm {
    MPI_Comm comm;              /* not to be used by operations that may outlive it */
    int rank, size;
    atomic_int users;           /* the communicator, and its operations */
    bool usable;                /* more than one rank, and no intercommunicator */
    oc_mpich_meeting_t meeting;
    unsigned tries, next_try;   /* blocking collectives so far, and the one that tries to meet again */
    int mode;                   /* of process 0, when they met */
    bool one_host;
    uint64_t bcast_least, gather_least; /* bytes that multicast carries; UINT64_MAX: none */
    uint64_t least[OC_NUM_RULED]; /* bytes; no smaller vector is offloaded, UINT64_MAX: none is */
    oc_mpich_left_t left;
    char name[MPI_MAX_OBJECT_NAME];
    oc_mpich_service_t services[OC_MPICH_NUM_SERVICES];
} oc_mpich_comm_t;

/* What the library knows of it; NULL: it is none, or nothing is offloaded there. Communicates nothing. */
oc_mpich_comm_t *oc_mpich_comm_of(MPI_Comm comm);
void oc_mpich_comm_hold(oc_mpich_comm_t *comm);
void oc_mpich_comm_let_go(oc_mpich_comm_t *comm);
/* The attribute of communicators. Once, before oc_mpich_comm_of. */
int oc_mpich_comm_make_keyval(void);

#endif
