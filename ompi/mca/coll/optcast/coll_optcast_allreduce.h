/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The functions that a communicator gets for MPI_Allreduce, MPI_Iallreduce and MPI_Allreduce_init.
 * Signatures and errors are those of Open MPI's framework.
 */
#ifndef MCA_COLL_OPTCAST_ALLREDUCE_H
#define MCA_COLL_OPTCAST_ALLREDUCE_H

#include "coll_optcast_compat.h"

int mca_coll_optcast_allreduce(const void *sbuf, void *rbuf, oc_mpi_count_t count,
                               struct ompi_datatype_t *dtype, struct ompi_op_t *op,
                               struct ompi_communicator_t *comm, mca_coll_base_module_t *module);
int mca_coll_optcast_iallreduce(const void *sbuf, void *rbuf, oc_mpi_count_t count,
                                struct ompi_datatype_t *dtype, struct ompi_op_t *op,
                                struct ompi_communicator_t *comm, ompi_request_t **request,
                                mca_coll_base_module_t *module);
int mca_coll_optcast_allreduce_init(const void *sbuf, void *rbuf, oc_mpi_count_t count,
                                    struct ompi_datatype_t *dtype, struct ompi_op_t *op,
                                    struct ompi_communicator_t *comm, struct ompi_info_t *info,
                                    ompi_request_t **request, mca_coll_base_module_t *module);

#endif
