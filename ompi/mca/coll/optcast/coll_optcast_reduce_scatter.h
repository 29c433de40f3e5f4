/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The functions that a communicator gets for MPI_Reduce_scatter_block and MPI_Reduce_scatter,
 * nonblocking and persistent ones, too.
 * Signatures and errors are those of Open MPI's framework.
 */
#ifndef MCA_COLL_OPTCAST_REDUCE_SCATTER_H
#define MCA_COLL_OPTCAST_REDUCE_SCATTER_H

#include "coll_optcast_compat.h"

int mca_coll_optcast_reduce_scatter_block(const void *sbuf, void *rbuf, oc_mpi_count_t rcount,
                                          struct ompi_datatype_t *dtype, struct ompi_op_t *op,
                                          struct ompi_communicator_t *comm,
                                          mca_coll_base_module_t *module);
int mca_coll_optcast_ireduce_scatter_block(const void *sbuf, void *rbuf, oc_mpi_count_t rcount,
                                           struct ompi_datatype_t *dtype, struct ompi_op_t *op,
                                           struct ompi_communicator_t *comm,
                                           ompi_request_t **request,
                                           mca_coll_base_module_t *module);
int mca_coll_optcast_reduce_scatter_block_init(const void *sbuf, void *rbuf, oc_mpi_count_t rcount,
                                               struct ompi_datatype_t *dtype, struct ompi_op_t *op,
                                               struct ompi_communicator_t *comm,
                                               struct ompi_info_t *info, ompi_request_t **request,
                                               mca_coll_base_module_t *module);
int mca_coll_optcast_reduce_scatter(const void *sbuf, void *rbuf, oc_mpi_counts_t rcounts,
                                    struct ompi_datatype_t *dtype, struct ompi_op_t *op,
                                    struct ompi_communicator_t *comm,
                                    mca_coll_base_module_t *module);
int mca_coll_optcast_ireduce_scatter(const void *sbuf, void *rbuf, oc_mpi_counts_t rcounts,
                                     struct ompi_datatype_t *dtype, struct ompi_op_t *op,
                                     struct ompi_communicator_t *comm, ompi_request_t **request,
                                     mca_coll_base_module_t *module);
int mca_coll_optcast_reduce_scatter_init(const void *sbuf, void *rbuf, oc_mpi_counts_t rcounts,
                                         struct ompi_datatype_t *dtype, struct ompi_op_t *op,
                                         struct ompi_communicator_t *comm, struct ompi_info_t *info,
                                         ompi_request_t **request, mca_coll_base_module_t *module);

#endif
