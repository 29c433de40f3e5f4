/* SPDX-License-Identifier: BSD-3-Clause */
/* Requests of nonblocking and persistent operations. */
#ifndef MCA_COLL_OPTCAST_REQUEST_H
#define MCA_COLL_OPTCAST_REQUEST_H

#include "coll_optcast_compat.h"

#include "ompi/mca/coll/base/coll_base_util.h"

#include "client/client.h"

#include "coll_optcast_call.h"
#include "coll_optcast_hosted.h"
#include "coll_optcast_module.h"

/* What a persistent operation owns: see persistent.c. */
typedef struct mca_coll_optcast_persistent mca_coll_optcast_persistent_t;
typedef struct mca_coll_optcast_request mca_coll_optcast_request_t;

/*
 * Not ompi_request_t: for some calls the MPI layer casts whatever a nonblocking collective
 * returned to this base class and stores in it what it retained.
 */
struct mca_coll_optcast_request {
    ompi_coll_base_nbc_request_t super;
    mca_coll_optcast_module_t *module;
    mca_coll_optcast_call_t call;
    oc_group_t *group;          /* NULL: persistent, and left to the previous module for good */
    ompi_request_t *inner;      /* reserved or started on the previous module; or NULL */
    mca_coll_optcast_hosted_t *hosted; /* what that works on; NULL: the call's own buffers */
    mca_coll_optcast_persistent_t *persistent; /* NULL: not one */
    void (*freed)(mca_coll_optcast_request_t *request); /* it is being freed; NULL: nobody cares */
};
OBJ_CLASS_DECLARATION(mca_coll_optcast_request_t);

/*
 * start: of a persistent request, which begins inactive; NULL: of one that is active and ends with
 * its first completion. Both keep the communicator alive, and take over the call with its layout.
 */
mca_coll_optcast_request_t *mca_coll_optcast_request_new(mca_coll_optcast_module_t *module,
                                                         const mca_coll_optcast_call_t *call,
                                                         ompi_request_start_fn_t start);
/* Its end will be that of the inner one, which is under way. */
void mca_coll_optcast_request_await_inner(mca_coll_optcast_request_t *request);
/* A persistent request begins to wait. */
void mca_coll_optcast_request_activate(mca_coll_optcast_request_t *request);
/* To the engine; what goes wrong before it is there ends the group, for the others count on it. */
oc_status_t mca_coll_optcast_start(const mca_coll_optcast_module_t *m, oc_group_t *group,
                                   mca_coll_optcast_call_t *call,
                                   void (*finished)(void *, oc_status_t), void *arg);
/* To the engine or, if that has declined, to the previous module; an error of MPI if to neither. */
int mca_coll_optcast_request_start(mca_coll_optcast_request_t *request);
/* The last thing that is done with a request that is not persistent. */
void mca_coll_optcast_request_complete(mca_coll_optcast_request_t *request, int error);
/* Gives back a request that the application has not seen. */
void mca_coll_optcast_request_discard(mca_coll_optcast_request_t *request);
/* Completes those whose inner request has. Returns how many. */
int mca_coll_optcast_request_progress(void);

#endif
