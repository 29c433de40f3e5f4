/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Copies in host memory of buffers that the previous module cannot access. The functions accept
 * NULL, which stands for a call that needs no copies.
 */
#ifndef MCA_COLL_OPTCAST_HOSTED_H
#define MCA_COLL_OPTCAST_HOSTED_H

#include "coll_optcast_call.h"
#include "coll_optcast_module.h"

/* A call whose buffers have copies in host memory. */
typedef struct mca_coll_optcast_hosted mca_coll_optcast_hosted_t;

/* Returns NULL if the previous module can access all buffers of the call. */
mca_coll_optcast_hosted_t *mca_coll_optcast_hosted_new(const mca_coll_optcast_module_t *m,
                                                       const mca_coll_optcast_call_t *call);
/* Returns the call to be made instead. It belongs to hosted, if that is not NULL. */
const mca_coll_optcast_call_t *
mca_coll_optcast_hosted_call(const mca_coll_optcast_call_t *call,
                             const mca_coll_optcast_hosted_t *hosted);
/*
 * Copies from the devices before the operation begins, also the receive buffer, since it may be in
 * place. A failure ends the job.
 */
void mca_coll_optcast_hosted_load(const mca_coll_optcast_hosted_t *hosted);
/* Copies the result to the device when the operation has succeeded. Returns an error of MPI. */
int mca_coll_optcast_hosted_store(const mca_coll_optcast_hosted_t *hosted);
void mca_coll_optcast_hosted_free(mca_coll_optcast_hosted_t *hosted);

#endif
