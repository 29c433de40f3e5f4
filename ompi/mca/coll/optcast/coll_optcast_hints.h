/* SPDX-License-Identifier: BSD-3-Clause */
/* What the info object of a communicator says about it: MPI_Comm_dup_with_info. */
#ifndef MCA_COLL_OPTCAST_HINTS_H
#define MCA_COLL_OPTCAST_HINTS_H

#include "client/client.h"

#include "coll_optcast_module.h"

/*
 * Sets the module's hints as the info keys "optcast_NAME" say, which are called as the settings that
 * they replace. What is no value is ignored, and rank 0 of the communicator says so. To be called
 * when the communicator is made: what it is told later may come at another time on each rank.
 */
void mca_coll_optcast_hints_read(mca_coll_optcast_module_t *m);
/* Changes those that the communicator has. */
void mca_coll_optcast_hints(const mca_coll_optcast_module_t *m, oc_hints_t *hints);

#endif
