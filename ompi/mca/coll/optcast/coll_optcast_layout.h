/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The buffers of an Allgather or Bcast as the engine sees them. Blocks that are not rows of bytes
 * in the caller's memory are packed and unpacked. All of this is one rank's own affair: the others
 * may describe the same elements in another way.
 */
#ifndef MCA_COLL_OPTCAST_LAYOUT_H
#define MCA_COLL_OPTCAST_LAYOUT_H

#include "coll_optcast_compat.h"

#include "staging/device.h"

typedef struct mca_coll_optcast_call mca_coll_optcast_call_t;

/* The buffers of an Allgather or Bcast as the engine sees them: each block a row of bytes. */
typedef struct {
    char *recv;                 /* the caller's, or the temporary */
    size_t block;               /* bytes of each block, side by side, if … */
    size_t *lengths;            /* … this is NULL: bytes of each */
    size_t *offsets;            /* from recv; with lengths */
    ptrdiff_t *places;          /* bytes from rbuf to the first element of each; with lengths */
    size_t total;               /* bytes of all */
    bool scattered;             /* the caller's blocks are no rows of bytes: see temporary */
    char *temporary;            /* NULL: not there yet */
} mca_coll_optcast_layout_t;

/* Of one block for each rank; an error of MPI when memory has run out. */
int mca_coll_optcast_layout_blocks(mca_coll_optcast_call_t *call, int num_ranks);
/* Of one block, the whole. */
void mca_coll_optcast_layout_whole(mca_coll_optcast_call_t *call);
/* Before each operation: makes the temporary, if one is needed. */
int mca_coll_optcast_layout_begin(mca_coll_optcast_layout_t *layout);
/* Elements that lie in a row: where that begins. NULL: they do not. */
const void *mca_coll_optcast_row(const void *buffer, size_t count,
                                 const struct ompi_datatype_t *dtype);
/* device: that has the elements; NULL: the host. */
int mca_coll_optcast_pack(oc_device_t *device, const void *from, size_t count,
                          const struct ompi_datatype_t *dtype, char *to, size_t length);
int mca_coll_optcast_unpack(oc_device_t *device, char *from, size_t length, void *to, size_t count,
                            const struct ompi_datatype_t *dtype);
void mca_coll_optcast_layout_free(mca_coll_optcast_layout_t *layout);

#endif
