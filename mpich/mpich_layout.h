/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The buffers of an Allgather or Bcast as the engine sees them: each block a row of bytes. Blocks
 * that are no such rows in the program's memory are packed and unpacked. Each rank decides this for itself, since
 * the others may describe the same elements in another way.
 */
#ifndef OC_MPICH_LAYOUT_H
#define OC_MPICH_LAYOUT_H

#include <mpi.h>
#include <stdbool.h>

#include "adapter/block_layout.h"

typedef struct oc_mpich_comm oc_mpich_comm_t;

typedef struct {
    oc_layout_blocks_t blocks;
    MPI_Datatype type;          /* of rbuf, held until the layout is freed; MPI_DATATYPE_NULL: none */
    size_t *elements;           /* Reduce_scatter: of each block; NULL: they are equal */
} oc_mpich_layout_t;

/* Bytes of an element; 0 also of what is no type. */
size_t oc_mpich_type_bytes(MPI_Datatype type);
/* Where count elements at buffer begin that are one row of bytes; NULL: they are not. */
const void *oc_mpich_row(const void *buffer, int64_t count, MPI_Datatype type);
/* Copy elements to a row of length bytes, or back. Return MPI's errors. */
int oc_mpich_pack(const void *from, int64_t count, MPI_Datatype type, void *to, size_t length);
int oc_mpich_unpack(const void *from, size_t length, void *to, int64_t count, MPI_Datatype type);
void oc_mpich_layout_free(oc_mpich_layout_t *layout);

#endif
