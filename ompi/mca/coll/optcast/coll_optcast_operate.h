/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Carries out blocking and nonblocking calls of a collective, offloaded or by the previous module.
 * The caller fills in the call, except what decide fills in. Returns an error of MPI.
 */
#ifndef MCA_COLL_OPTCAST_OPERATE_H
#define MCA_COLL_OPTCAST_OPERATE_H

#include "coll_optcast_call.h"
#include "coll_optcast_module.h"

int mca_coll_optcast_operate(mca_coll_optcast_module_t *m, mca_coll_optcast_call_t *call);
int mca_coll_optcast_operate_now(mca_coll_optcast_module_t *m, mca_coll_optcast_call_t *call,
                                 ompi_request_t **request);

#endif
