/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPI_Op_create and MPI_Op_free: which operations of the program are those of <optcast/mpi.h> on 16-bit floats.
 * MPICH tells nobody what function an operation has. Does not know mpi.h, as entry.c does not: handles are ints.
 */
#ifndef OC_MPICH_OP_H
#define OC_MPICH_OP_H

#include <stdint.h>

#include "adapter/fallback.h"

/* MPICH has made op of that function; or is to free it, or to say that there is none (NULL). Any thread. */
void oc_mpich_op_created(uintptr_t function, int op);
void oc_mpich_op_freed(const int *op);

/* As oc_mpi_map, for operations that are not predefined. */
oc_fallback_t oc_mpich_op_map(int op, int type, unsigned *oc_op, unsigned *oc_type);

#endif
