/* SPDX-License-Identifier: BSD-3-Clause */
/* Doubles in host memory of buffers that the previous module cannot reach. NULL is allowed. */
#ifndef MCA_COLL_OPTCAST_HOSTED_H
#define MCA_COLL_OPTCAST_HOSTED_H

#include "coll_optcast_call.h"
#include "coll_optcast_module.h"

/* A call whose buffers have doubles in host memory: see hosted.c. */
typedef struct mca_coll_optcast_hosted mca_coll_optcast_hosted_t;

/* NULL: the previous module reaches all buffers of the call. */
mca_coll_optcast_hosted_t *mca_coll_optcast_hosted_new(const mca_coll_optcast_module_t *m,
                                                       const mca_coll_optcast_call_t *call);
/* The call to be made instead; owned by hosted, if there is one. */
const mca_coll_optcast_call_t *
mca_coll_optcast_hosted_call(const mca_coll_optcast_call_t *call,
                             const mca_coll_optcast_hosted_t *hosted);
/* Before it begins, what is there before included: it may be in place. A failure ends the job. */
void mca_coll_optcast_hosted_load(const mca_coll_optcast_hosted_t *hosted);
/* When it has succeeded. An error of MPI. */
int mca_coll_optcast_hosted_store(const mca_coll_optcast_hosted_t *hosted);
void mca_coll_optcast_hosted_free(mca_coll_optcast_hosted_t *hosted);

#endif
