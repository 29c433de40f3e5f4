/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes the requests of persistent collectives. */
#ifndef MCA_COLL_OPTCAST_PERSISTENT_H
#define MCA_COLL_OPTCAST_PERSISTENT_H

#include "coll_optcast_call.h"
#include "coll_optcast_module.h"

/* As mca_coll_optcast_operate_now, for MPI's _init functions. */
int mca_coll_optcast_operate_init(mca_coll_optcast_module_t *m, mca_coll_optcast_call_t *call,
                                  struct ompi_info_t *info, ompi_request_t **request);

#endif
