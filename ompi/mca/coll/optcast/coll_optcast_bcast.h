/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The functions that a communicator gets for MPI_Bcast, MPI_Ibcast and MPI_Bcast_init.
 * Signatures and errors are those of Open MPI's framework.
 */
#ifndef MCA_COLL_OPTCAST_BCAST_H
#define MCA_COLL_OPTCAST_BCAST_H

#include "coll_optcast_compat.h"

int mca_coll_optcast_bcast(void *buffer, oc_mpi_count_t count, struct ompi_datatype_t *dtype,
                           int root, struct ompi_communicator_t *comm,
                           mca_coll_base_module_t *module);
int mca_coll_optcast_ibcast(void *buffer, oc_mpi_count_t count, struct ompi_datatype_t *dtype,
                            int root, struct ompi_communicator_t *comm, ompi_request_t **request,
                            mca_coll_base_module_t *module);
int mca_coll_optcast_bcast_init(void *buffer, oc_mpi_count_t count, struct ompi_datatype_t *dtype,
                                int root, struct ompi_communicator_t *comm,
                                struct ompi_info_t *info, ompi_request_t **request,
                                mca_coll_base_module_t *module);

#endif
