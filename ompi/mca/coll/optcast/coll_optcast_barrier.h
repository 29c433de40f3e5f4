/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The functions that a communicator gets for MPI_Barrier, MPI_Ibarrier and MPI_Barrier_init.
 * Signatures and errors are those of Open MPI's framework.
 */
#ifndef MCA_COLL_OPTCAST_BARRIER_H
#define MCA_COLL_OPTCAST_BARRIER_H

#include "coll_optcast_compat.h"

int mca_coll_optcast_barrier(struct ompi_communicator_t *comm, mca_coll_base_module_t *module);
int mca_coll_optcast_ibarrier(struct ompi_communicator_t *comm, ompi_request_t **request,
                              mca_coll_base_module_t *module);
int mca_coll_optcast_barrier_init(struct ompi_communicator_t *comm, struct ompi_info_t *info,
                                  ompi_request_t **request, mca_coll_base_module_t *module);

#endif
