/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Gives the engine the exchanges that a group's set-up needs, by messages of MPI. The engine calls
 * the functions of mca_coll_optcast_bootstrap under its lock; none of them blocks.
 */
#ifndef MCA_COLL_OPTCAST_BOOTSTRAP_H
#define MCA_COLL_OPTCAST_BOOTSTRAP_H

#include "coll_optcast_compat.h"

#include "client/client.h"

#include "coll_optcast_exchange.h"

typedef struct mca_coll_optcast_module mca_coll_optcast_module_t;

/* The exchanges that a group's set-up needs: see bootstrap.c. */
typedef struct {
    mca_coll_optcast_module_t *module;
    oc_service_t service;       /* of the group */
    bool blocking;              /* the first collective is a blocking one, on all ranks */
    bool reserved;              /* there is a tag already */
    int tag;                    /* of all messages of this set-up */
    oc_exchange_t buffers;      /* of the engine */
    oc_exchange_step_t step;    /* that was started last */
    mca_coll_optcast_exchange_t *exchange; /* of that; NULL: none is under way */
} mca_coll_optcast_bootstrap_t;

extern const oc_bootstrap_t mca_coll_optcast_bootstrap;
/*
 * Takes the tag now, for a group whose set-up begins later. All ranks have to call it at the same
 * place in the order of their collectives.
 */
void mca_coll_optcast_bootstrap_reserve(mca_coll_optcast_bootstrap_t *bootstrap);
/* Ends the exchange that is under way, if there is one. */
void mca_coll_optcast_bootstrap_release(mca_coll_optcast_bootstrap_t *bootstrap);

#endif
