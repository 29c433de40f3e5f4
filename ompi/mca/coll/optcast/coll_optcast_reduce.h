/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The functions that a communicator gets for MPI_Reduce, MPI_Ireduce and MPI_Reduce_init.
 * Signatures and errors are those of Open MPI's framework.
 */
#ifndef MCA_COLL_OPTCAST_REDUCE_H
#define MCA_COLL_OPTCAST_REDUCE_H

#include "coll_optcast_compat.h"

int mca_coll_optcast_reduce(const void *sbuf, void *rbuf, oc_mpi_count_t count,
                            struct ompi_datatype_t *dtype, struct ompi_op_t *op, int root,
                            struct ompi_communicator_t *comm, mca_coll_base_module_t *module);
int mca_coll_optcast_ireduce(const void *sbuf, void *rbuf, oc_mpi_count_t count,
                             struct ompi_datatype_t *dtype, struct ompi_op_t *op, int root,
                             struct ompi_communicator_t *comm, ompi_request_t **request,
                             mca_coll_base_module_t *module);
int mca_coll_optcast_reduce_init(const void *sbuf, void *rbuf, oc_mpi_count_t count,
                                 struct ompi_datatype_t *dtype, struct ompi_op_t *op, int root,
                                 struct ompi_communicator_t *comm, struct ompi_info_t *info,
                                 ompi_request_t **request, mca_coll_base_module_t *module);

#endif
