/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPICH's functions under the names that no tool takes. All are weak: programs without MPI, or with
 * another library, are not to miss any of them.
 */
#ifndef OC_MPICH_PMPI_H
#define OC_MPICH_PMPI_H

#include <mpi.h>

#pragma weak PMPI_Abort
#pragma weak PMPI_Add_error_class
#pragma weak PMPI_Add_error_string
#pragma weak PMPI_Allgather
#pragma weak PMPI_Allreduce
#pragma weak PMPI_Bcast
#pragma weak PMPI_Comm_call_errhandler
#pragma weak PMPI_Comm_create
#pragma weak PMPI_Comm_create_keyval
#pragma weak PMPI_Comm_free
#pragma weak PMPI_Comm_free_keyval
#pragma weak PMPI_Comm_get_attr
#pragma weak PMPI_Comm_get_errhandler
#pragma weak PMPI_Comm_get_name
#pragma weak PMPI_Comm_group
#pragma weak PMPI_Comm_rank
#pragma weak PMPI_Comm_set_attr
#pragma weak PMPI_Comm_set_errhandler
#pragma weak PMPI_Comm_size
#pragma weak PMPI_Comm_test_inter
#pragma weak PMPI_Errhandler_free
#pragma weak PMPI_Finalized
#pragma weak PMPI_Get_library_version
#pragma weak PMPI_Grequest_complete
#pragma weak PMPI_Group_free
#pragma weak PMPI_Iallgather
#pragma weak PMPI_Iallreduce
#pragma weak PMPI_Initialized
#pragma weak PMPI_Iprobe
#pragma weak PMPI_Irecv
#pragma weak PMPI_Isend
#pragma weak PMPI_Pack_c
#pragma weak PMPI_Query_thread
#pragma weak PMPI_Reduce_local
#pragma weak PMPI_Request_get_status
#pragma weak PMPI_Status_set_cancelled
#pragma weak PMPI_Status_set_elements
#pragma weak PMPI_Test
#pragma weak PMPI_Type_dup
#pragma weak PMPI_Type_free
#pragma weak PMPI_Type_get_contents_c
#pragma weak PMPI_Type_get_envelope_c
#pragma weak PMPI_Type_get_extent
#pragma weak PMPI_Type_get_name
#pragma weak PMPI_Type_get_true_extent
#pragma weak PMPI_Type_size
#pragma weak PMPI_Type_size_x
#pragma weak PMPI_Unpack_c
#pragma weak PMPIX_Grequest_start

#endif
