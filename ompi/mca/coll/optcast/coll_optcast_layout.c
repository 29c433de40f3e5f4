/* SPDX-License-Identifier: BSD-3-Clause */
/* Where the blocks of an Allgather or Bcast are, and moving them if they are no rows of bytes. */
#include "coll_optcast_layout.h"

#include "opal/datatype/opal_convertor.h"

#include "coll_optcast_call.h"
#include "coll_optcast_device.h"
#include "coll_optcast_state.h"

/* The convertor is given so many bytes at a time: not all of it counts further than 32 bits. */
#define PIECE ((size_t) 1 << 30)

/* How one element of a type lies in memory. */
typedef struct {
    size_t size;
    ptrdiff_t extent;
    ptrdiff_t first; /* bytes from its address to its data */
} shape_t;

static shape_t layout_shape_of(const struct ompi_datatype_t *dtype)
{
    return (shape_t) {
        .size = dtype->super.size,
        .extent = dtype->super.ub - dtype->super.lb,
        .first = dtype->super.true_lb,
    };
}

static bool is_row(const struct ompi_datatype_t *dtype, size_t count)
{
    return 0 != ompi_datatype_is_contiguous_memory_layout(dtype, count > 1 ? 2 : 1);
}

const void *mca_coll_optcast_row(const void *buffer, size_t count,
                                 const struct ompi_datatype_t *dtype)
{
    return is_row(dtype, count) ? (const char *) buffer + layout_shape_of(dtype).first : NULL;
}

static size_t count_of(const mca_coll_optcast_call_t *call, int block)
{
    return call->unequal ? OC_MPI_COUNT(call->counts, block) : (size_t) call->count;
}

/* In elements. */
static ptrdiff_t displ_of(const mca_coll_optcast_call_t *call, int block)
{
    return call->unequal ? OC_MPI_DISPL(call->displs, block) : block * (ptrdiff_t) call->count;
}

int mca_coll_optcast_layout_blocks(mca_coll_optcast_call_t *call, int num_ranks)
{
    oc_layout_blocks_t *blocks = &call->layout.blocks;
    shape_t shape = layout_shape_of(call->dtype);

    if (!call->unequal && is_row(call->dtype, 2)) {
        blocks->recv = (char *) call->rbuf + shape.first;
        blocks->block = (size_t) call->count * shape.size;
        return OMPI_SUCCESS;
    }
    if (!oc_layout_lists(blocks, (size_t) num_ranks)) {
        return OMPI_ERR_OUT_OF_RESOURCE;
    }
    for (int i = 0; i < num_ranks; i++) {
        blocks->lengths[i] = count_of(call, i) * shape.size;
        blocks->places[i] = displ_of(call, i) * shape.extent;
        blocks->scattered |= 0 != blocks->lengths[i] && !is_row(call->dtype, count_of(call, i));
    }
    oc_layout_place(blocks, (size_t) num_ranks, call->rbuf, shape.first);
    return OMPI_SUCCESS;
}

void mca_coll_optcast_layout_whole(mca_coll_optcast_call_t *call)
{
    oc_layout_blocks_t *blocks = &call->layout.blocks;
    shape_t shape = layout_shape_of(call->dtype);

    blocks->block = (size_t) call->count * shape.size;
    blocks->total = blocks->block;
    blocks->scattered = !is_row(call->dtype, (size_t) call->count);
    blocks->recv = (char *) call->rbuf + shape.first;
}

void mca_coll_optcast_layout_free(mca_coll_optcast_layout_t *layout)
{
    oc_layout_free(&layout->blocks);
    free(layout->elements);
    layout->elements = NULL;
}

typedef int32_t (*convert_t)(opal_convertor_t *convertor, struct iovec *iov, uint32_t *count,
                             size_t *length);

/* Moves length bytes between the row and where the convertor was made for. */
static int convert(convert_t function, opal_convertor_t *convertor, char *row, size_t length)
{
    size_t done = 0;

    while (done < length) {
        size_t moved = length - done < PIECE ? length - done : PIECE;
        struct iovec iov = {.iov_base = row + done, .iov_len = moved};
        uint32_t count = 1;

        if (function(convertor, &iov, &count, &moved) < 0 || 0 == moved) {
            return OMPI_ERROR;
        }
        done += moved;
    }
    (void) __atomic_fetch_add(&mca_coll_optcast_state.counters.engine.bytes_copied, length,
                              __ATOMIC_RELAXED);
    return OMPI_SUCCESS;
}

int mca_coll_optcast_pack(oc_device_t *device, const void *from, size_t count,
                          const struct ompi_datatype_t *dtype, char *to, size_t length)
{
    opal_convertor_t convertor;
    int rc;

    if (NULL != device) {
        return mca_coll_optcast_move(device, OC_FROM_DEVICE, (void *) from, count, dtype, to,
                                     length);
    }
    OBJ_CONSTRUCT(&convertor, opal_convertor_t);
    rc = opal_convertor_copy_and_prepare_for_send(ompi_mpi_local_convertor, &dtype->super, count,
                                                  from, 0, &convertor);
    if (OPAL_SUCCESS == rc) {
        rc = convert(opal_convertor_pack, &convertor, to, length);
    }
    OBJ_DESTRUCT(&convertor);
    return rc;
}

int mca_coll_optcast_unpack(oc_device_t *device, char *from, size_t length, void *to, size_t count,
                            const struct ompi_datatype_t *dtype)
{
    opal_convertor_t convertor;
    int rc;

    if (NULL != device) {
        return mca_coll_optcast_move(device, OC_TO_DEVICE, to, count, dtype, from, length);
    }
    OBJ_CONSTRUCT(&convertor, opal_convertor_t);
    rc = opal_convertor_copy_and_prepare_for_recv(ompi_mpi_local_convertor, &dtype->super, count,
                                                  to, 0, &convertor);
    if (OPAL_SUCCESS == rc) {
        rc = convert(opal_convertor_unpack, &convertor, from, length);
    }
    OBJ_DESTRUCT(&convertor);
    return rc;
}
