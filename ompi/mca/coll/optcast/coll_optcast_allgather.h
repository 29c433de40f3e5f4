/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The functions that a communicator gets for MPI_Allgather, MPI_Iallgather, MPI_Allgather_init,
 * and the same for Allgatherv. Signatures and errors are those of Open MPI's framework.
 */
#ifndef MCA_COLL_OPTCAST_ALLGATHER_H
#define MCA_COLL_OPTCAST_ALLGATHER_H

#include "coll_optcast_compat.h"

int mca_coll_optcast_allgather(const void *sbuf, oc_mpi_count_t scount,
                               struct ompi_datatype_t *sdtype, void *rbuf, oc_mpi_count_t rcount,
                               struct ompi_datatype_t *rdtype, struct ompi_communicator_t *comm,
                               mca_coll_base_module_t *module);
int mca_coll_optcast_iallgather(const void *sbuf, oc_mpi_count_t scount,
                                struct ompi_datatype_t *sdtype, void *rbuf, oc_mpi_count_t rcount,
                                struct ompi_datatype_t *rdtype, struct ompi_communicator_t *comm,
                                ompi_request_t **request, mca_coll_base_module_t *module);
int mca_coll_optcast_allgather_init(const void *sbuf, oc_mpi_count_t scount,
                                    struct ompi_datatype_t *sdtype, void *rbuf,
                                    oc_mpi_count_t rcount, struct ompi_datatype_t *rdtype,
                                    struct ompi_communicator_t *comm, struct ompi_info_t *info,
                                    ompi_request_t **request, mca_coll_base_module_t *module);
int mca_coll_optcast_allgatherv(const void *sbuf, oc_mpi_count_t scount,
                                struct ompi_datatype_t *sdtype, void *rbuf,
                                oc_mpi_counts_t rcounts, oc_mpi_displs_t displs,
                                struct ompi_datatype_t *rdtype, struct ompi_communicator_t *comm,
                                mca_coll_base_module_t *module);
int mca_coll_optcast_iallgatherv(const void *sbuf, oc_mpi_count_t scount,
                                 struct ompi_datatype_t *sdtype, void *rbuf,
                                 oc_mpi_counts_t rcounts, oc_mpi_displs_t displs,
                                 struct ompi_datatype_t *rdtype, struct ompi_communicator_t *comm,
                                 ompi_request_t **request, mca_coll_base_module_t *module);
int mca_coll_optcast_allgatherv_init(const void *sbuf, oc_mpi_count_t scount,
                                     struct ompi_datatype_t *sdtype, void *rbuf,
                                     oc_mpi_counts_t rcounts, oc_mpi_displs_t displs,
                                     struct ompi_datatype_t *rdtype,
                                     struct ompi_communicator_t *comm, struct ompi_info_t *info,
                                     ompi_request_t **request, mca_coll_base_module_t *module);

#endif
