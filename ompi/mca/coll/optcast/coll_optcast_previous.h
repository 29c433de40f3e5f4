/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Calls the functions of the previous module, with copies of the buffers that it cannot access.
 * Returns errors of MPI.
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
/*
 * Sets *hosted to the copies that belong to the request: its owner loads them before each start and
 * stores them afterwards. NULL: there are none.
 */
int mca_coll_optcast_previous_init(const mca_coll_optcast_module_t *m,
                                   const mca_coll_optcast_call_t *call, struct ompi_info_t *info,
                                   ompi_request_t **request, mca_coll_optcast_hosted_t **hosted);

#endif
