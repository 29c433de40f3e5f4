/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The modules of communicators. Open MPI calls the functions, from the thread that makes or frees
 * the communicator; progress may be called from any thread. Making a module communicates nothing.
 */
#ifndef MCA_COLL_OPTCAST_MODULE_H
#define MCA_COLL_OPTCAST_MODULE_H

#include "coll_optcast_compat.h"

#include <stdatomic.h>

#include "client/client.h"

#include "coll_optcast_bootstrap.h"
#include "coll_optcast_functions.h"

/* The services of a communicator are numbered by oc_service_t. */
#define OC_NUM_SERVICES (OC_SERVICE_MULTICAST + 1)

/* What serves a communicator, for some of its collectives. */
typedef struct {
    mca_coll_optcast_module_t *module;
    oc_group_t *group;          /* NULL: too many ranks */
    mca_coll_optcast_bootstrap_t bootstrap;
    bool blocking_seen;         /* a blocking operation has known the outcome on all ranks */
    unsigned reserved;          /* nonblocking operations with a reserved fallback */
    atomic_bool announced[2];   /* that there is no service, or that there is, was told */
    atomic_bool failure_told;
} mca_coll_optcast_service_t;

/* A communicator: its services, and the functions that it had before. */
struct mca_coll_optcast_module {
    mca_coll_base_module_t super;
    ompi_communicator_t *comm;
    int mode;                   /* the setting's value when the communicator was made */
    bool enabled;
    uint64_t bcast_least, gather_least; /* bytes that multicast carries; UINT64_MAX: none */
    uint64_t least[OC_NUM_RULED]; /* bytes; no smaller vector is offloaded, UINT64_MAX: none is */
    int beside;                 /* as an info key has it: oc_beside_t; -1: there was none */
    bool over_han;              /* some of the functions before us are those of HAN */
    atomic_int inside;          /* calls of the previous module that are under way: see operate.c, pass.h */
    mca_coll_optcast_service_t services[OC_NUM_SERVICES];
#define X(op)                                    \
    mca_coll_base_module_##op##_fn_t prev_##op; \
    mca_coll_base_module_t *prev_##op##_module;
    OC_FOREACH_SAVED(X)
#undef X
};
OBJ_CLASS_DECLARATION(mca_coll_optcast_module_t);

int mca_coll_optcast_init_query(bool enable_progress_threads, bool enable_mpi_threads);
mca_coll_base_module_t *mca_coll_optcast_comm_query(ompi_communicator_t *comm, int *priority);
int mca_coll_optcast_progress(void);

#endif
