/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The buffers of an Allgather or Bcast as the engine sees them. Blocks that are not rows of bytes
 * in the caller's memory are packed and unpacked. Each rank decides this for itself, since the
 * others may describe the same elements in another way. Functions return errors of MPI.
 */
#ifndef MCA_COLL_OPTCAST_LAYOUT_H
#define MCA_COLL_OPTCAST_LAYOUT_H

#include "coll_optcast_compat.h"

#include "adapter/block_layout.h"
#include "staging/device.h"

typedef struct mca_coll_optcast_call mca_coll_optcast_call_t;

/* The buffers of an Allgather or Bcast as the engine sees them: each block a row of bytes. */
typedef struct {
    oc_layout_blocks_t blocks;
    size_t *elements;           /* Reduce_scatter: of each block; NULL: they are equal */
} mca_coll_optcast_layout_t;

/* Sets the layout of a call with one block for each rank. */
int mca_coll_optcast_layout_blocks(mca_coll_optcast_call_t *call, int num_ranks);
/* Sets the layout of a call with one block. */
void mca_coll_optcast_layout_whole(mca_coll_optcast_call_t *call);
/* Returns where elements begin that are contiguous; NULL: they are not. */
const void *mca_coll_optcast_row(const void *buffer, size_t count,
                                 const struct ompi_datatype_t *dtype);
/* Copies elements to a row of bytes, or back. device: has the elements; NULL: the host has. */
int mca_coll_optcast_pack(oc_device_t *device, const void *from, size_t count,
                          const struct ompi_datatype_t *dtype, char *to, size_t length);
int mca_coll_optcast_unpack(oc_device_t *device, char *from, size_t length, void *to, size_t count,
                            const struct ompi_datatype_t *dtype);
void mca_coll_optcast_layout_free(mca_coll_optcast_layout_t *layout);

#endif
