/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Buffers in the memory of accelerators: CUDA's by its driver, which need not be known to Open MPI,
 * and whatever else Open MPI's accelerator framework (5.0 and later) knows.
 */
#include "coll_optcast_device.h"

#include "opal/datatype/opal_convertor.h"

#include "staging/cuda.h"

#include "coll_optcast_state.h"

#if OC_HAVE_ACCELERATOR

/* ---- by way of Open MPI: copies wait ---- */

static oc_status_t device_begin(oc_device_t *device, oc_direction_t direction, void *to,
                                const void *from, size_t length, void **copy)
{
    int rc = opal_accelerator.mem_copy(MCA_ACCELERATOR_NO_DEVICE_ID, MCA_ACCELERATOR_NO_DEVICE_ID,
                                       to, from, length,
                                       OC_TO_DEVICE == direction ? MCA_ACCELERATOR_TRANSFER_HTOD
                                                                 : MCA_ACCELERATOR_TRANSFER_DTOH);

    *copy = device; /* anything but NULL */
    return OPAL_SUCCESS == rc ? OC_OK : OC_ERR_SYSTEM;
}

static bool is_over(oc_device_t *device, void *copy)
{
    (void) device;
    (void) copy;
    return true;
}

static oc_status_t device_end(oc_device_t *device, void *copy)
{
    (void) device;
    (void) copy;
    return OC_OK;
}

static void pin(oc_device_t *device, void *memory, size_t length)
{
    (void) device;
    (void) opal_accelerator.host_register(MCA_ACCELERATOR_NO_DEVICE_ID, memory, length);
}

static void unpin(oc_device_t *device, void *memory)
{
    (void) device;
    (void) opal_accelerator.host_unregister(MCA_ACCELERATOR_NO_DEVICE_ID, memory);
}

static const char *reason(const oc_device_t *device)
{
    (void) device;
    return "Open MPI's accelerator framework cannot copy";
}

static const oc_device_ops_t ops = {.begin = device_begin,
                                    .is_over = is_over,
                                    .end = device_end,
                                    .pin = pin,
                                    .unpin = unpin,
                                    .reason = reason};
static oc_device_t accelerator = {.ops = &ops};

static bool is_accelerators(const void *address)
{
    uint64_t flags = 0;
    int id;

    return opal_accelerator.check_addr(address, &id, &flags) > 0
           && 0 == (flags & MCA_ACCELERATOR_FLAGS_UNIFIED_MEMORY);
}

/* Open MPI has chosen before there was a communicator. */
static bool has_accelerator(void)
{
    const char *name = opal_accelerator_base_selected_component.base_version.mca_component_name;

    return '\0' != name[0] && 0 != strcmp(name, "null");
}

bool mca_coll_optcast_devices_are_used(void)
{
    return oc_cuda_is_used() || has_accelerator();
}

static oc_device_t *device_find(const void *address)
{
    oc_device_t *device = oc_cuda_find(address);

    return NULL == device && is_accelerators(address) ? &accelerator : device;
}

bool mca_coll_optcast_is_known(const void *address)
{
    return is_accelerators(address);
}

#else

bool mca_coll_optcast_devices_are_used(void)
{
    return oc_cuda_is_used();
}

static oc_device_t *device_find(const void *address)
{
    return oc_cuda_find(address);
}

bool mca_coll_optcast_is_known(const void *address)
{
    (void) address;
    return OC_CUDA_AWARE;
}

#endif

/* The buffer itself may be anything if its type has absolute addresses. */
static oc_device_t *device_of(const void *buffer, const struct ompi_datatype_t *dtype)
{
    return device_find((const char *) buffer + dtype->super.true_lb);
}

/* In bytes: the blocks of an Allgatherv need not begin with the buffer. */
static ptrdiff_t first_block(const mca_coll_optcast_call_t *call, int blocks)
{
    for (int i = 0; call->unequal && i < blocks; i++) {
        if (OC_MPI_COUNT(call->counts, i) > 0) {
            return OC_MPI_DISPL(call->displs, i) * (call->dtype->super.ub - call->dtype->super.lb);
        }
    }
    return 0;
}

void mca_coll_optcast_find_devices(const mca_coll_optcast_module_t *m,
                                   mca_coll_optcast_call_t *call)
{
    bool sends = NULL != call->sbuf && MPI_IN_PLACE != call->sbuf;
    ptrdiff_t first;

    if (!mca_coll_optcast_devices_are_used()) {
        return;
    }
    first = first_block(call, ompi_comm_size(m->comm));
    if (!call->no_result) {
        call->rdevice = device_of((const char *) call->rbuf + first, call->dtype);
    }
    if (sends) {
        call->sdevice = device_of(call->sbuf, NULL != call->sdtype ? call->sdtype : call->dtype);
    }
}

/* ---- elements that are no row ---- */

/* Pieces of a buffer whose copies are under way at the same time. */
#define PIECES 32

typedef struct {
    oc_device_t *device;
    oc_direction_t direction;
    char *row;                 /* where the next piece belongs, or comes from, … */
    ptrdiff_t twin;            /* … or how far from itself, if there is no row */
    size_t left;               /* bytes */
    void *copies[PIECES];
    unsigned num_copies;
    oc_status_t status;
} mover_t;

static void begin_piece(mover_t *mover, void *memory, size_t length)
{
    bool loads = OC_FROM_DEVICE == mover->direction;
    char *twin = (char *) ((uintptr_t) memory + (uintptr_t) mover->twin);
    char *host = NULL != mover->row ? mover->row : twin;

    length = length < mover->left ? length : mover->left;
    if (OC_OK == mover->status) {
        mover->status = mover->device->ops->begin(mover->device, mover->direction,
                                                  loads ? host : memory, loads ? memory : host,
                                                  length, &mover->copies[mover->num_copies]);
    }
    if (OC_OK == mover->status) {
        mover->num_copies++;
    }
    mover->row += NULL != mover->row ? length : 0;
    mover->left -= length;
}

static void end_pieces(mover_t *mover)
{
    for (unsigned i = 0; i < mover->num_copies; i++) {
        oc_status_t status = mover->device->ops->end(mover->device, mover->copies[i]);

        mover->status = OC_OK == mover->status ? status : mover->status;
    }
    mover->num_copies = 0;
}

static void move_pieces(mover_t *mover, opal_convertor_t *convertor)
{
    struct iovec pieces[PIECES];
    uint32_t count;
    size_t length;
    int32_t done;

    do {
        count = PIECES;
        length = SIZE_MAX;
        done = opal_convertor_raw(convertor, pieces, &count, &length);
        for (uint32_t i = 0; i < count && mover->left > 0; i++) {
            begin_piece(mover, pieces[i].iov_base, pieces[i].iov_len);
        }
        end_pieces(mover);
    } while (0 == done && mover->left > 0 && OC_OK == mover->status);
}

static int device_move(mover_t *mover, void *buffer, size_t count,
                       const struct ompi_datatype_t *dtype)
{
    size_t length = mover->left;
    opal_convertor_t convertor;
    int rc;

    OBJ_CONSTRUCT(&convertor, opal_convertor_t);
    rc = opal_convertor_copy_and_prepare_for_send(ompi_mpi_local_convertor, &dtype->super, count,
                                                  buffer, 0, &convertor);
    if (OPAL_SUCCESS == rc) {
        move_pieces(mover, &convertor);
        mca_coll_optcast_count_staged(length);
        rc = OC_OK == mover->status ? OMPI_SUCCESS : OMPI_ERROR;
    }
    OBJ_DESTRUCT(&convertor);
    return rc;
}

int mca_coll_optcast_move(oc_device_t *device, oc_direction_t direction, void *buffer, size_t count,
                          const struct ompi_datatype_t *dtype, char *row, size_t length)
{
    mover_t mover = {.device = device, .direction = direction, .row = row, .left = length,
                     .status = OC_OK};

    return device_move(&mover, buffer, count, dtype);
}

int mca_coll_optcast_store(oc_device_t *device, void *buffer, size_t count,
                           const struct ompi_datatype_t *dtype, const void *twin)
{
    mover_t mover = {.device = device, .direction = OC_TO_DEVICE, .left = count * dtype->super.size,
                     .twin = (ptrdiff_t) ((uintptr_t) twin - (uintptr_t) buffer), .status = OC_OK};

    return device_move(&mover, buffer, count, dtype);
}

void mca_coll_optcast_count_staged(size_t length)
{
    (void) __atomic_fetch_add(&mca_coll_optcast_state.counters.engine.bytes_staged, length,
                              __ATOMIC_RELAXED);
}
