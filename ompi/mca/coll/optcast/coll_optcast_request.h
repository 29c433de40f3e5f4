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
 * Makes a request. start: the function of a persistent request, which begins inactive; NULL: the
 * request is active, and ends with its first completion. It retains the communicator, and takes
 * over the call with its layout.
 */
mca_coll_optcast_request_t *mca_coll_optcast_request_new(mca_coll_optcast_module_t *module,
                                                         const mca_coll_optcast_call_t *call,
                                                         ompi_request_start_fn_t start);
/* The request completes when the inner one does, which has been started. */
void mca_coll_optcast_request_await_inner(mca_coll_optcast_request_t *request);
/* Makes a persistent request active. */
void mca_coll_optcast_request_activate(mca_coll_optcast_request_t *request);
/*
 * Gives the call to the engine. An error before that ends the group, because the other ranks wait
 * for this one.
 */
oc_status_t mca_coll_optcast_start(const mca_coll_optcast_module_t *m, oc_group_t *group,
                                   mca_coll_optcast_call_t *call,
                                   void (*finished)(void *, oc_status_t), void *arg);
/*
 * Gives the call to the engine, or, if that has declined, to the previous module. Returns an error
 * of MPI if neither takes it.
 */
int mca_coll_optcast_request_start(mca_coll_optcast_request_t *request);
/* Completes the request. One that is not persistent must not be used afterwards. */
void mca_coll_optcast_request_complete(mca_coll_optcast_request_t *request, int error);
/* Frees a request that the application has not seen. */
void mca_coll_optcast_request_discard(mca_coll_optcast_request_t *request);
/* Completes the requests whose inner request is complete, and returns how many they are. */
int mca_coll_optcast_request_progress(void);

#endif
