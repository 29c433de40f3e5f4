/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The functions of the previous module, for a call whose buffers may be where it cannot reach them.
 * Errors of MPI.
 */
#ifndef MCA_COLL_OPTCAST_PREVIOUS_H
#define MCA_COLL_OPTCAST_PREVIOUS_H

#include "coll_optcast_call.h"
#include "coll_optcast_hosted.h"
#include "coll_optcast_module.h"

int mca_coll_optcast_previous(const mca_coll_optcast_module_t *m,
                              const mca_coll_optcast_call_t *call);
int mca_coll_optcast_previous_now(mca_coll_optcast_module_t *m, const mca_coll_optcast_call_t *call,
                                  ompi_request_t **request);
/* hosted: goes with the request, whose user loads and stores; NULL: there is nothing to do. */
int mca_coll_optcast_previous_init(const mca_coll_optcast_module_t *m,
                                   const mca_coll_optcast_call_t *call, struct ompi_info_t *info,
                                   ompi_request_t **request, mca_coll_optcast_hosted_t **hosted);

#endif
