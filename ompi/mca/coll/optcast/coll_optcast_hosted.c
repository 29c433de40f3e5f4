/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Calls that are left to the previous module although it cannot reach their buffers: those get
 * doubles in host memory, as a whole, for nobody knows in which order it goes through them. Open
 * MPI's own components for that see blocking reductions only, before they come here.
 */
#include "coll_optcast_hosted.h"

#include "coll_optcast_device.h"
#include "coll_optcast_memory.h"

/* Doubles are aligned as what they stand for, up to a cache line. */
#define ALIGNMENT 64u

/* Where the bytes of a buffer are: they begin so far from its address. */
typedef struct {
    ptrdiff_t first;
    size_t length;
} span_t;

typedef struct {
    oc_device_t *device;       /* NULL: the buffer is the host's */
    char *memory;              /* first byte, on the device */
    size_t length;
    void *allocated;
    char *host;                /* first byte of the double */
} double_t;

struct mca_coll_optcast_hosted {
    ompi_communicator_t *comm;
    mca_coll_optcast_call_t call; /* with doubles as its buffers */
    double_t send, recv;
    void *rbuf;                /* the call's own */
    bool stores;               /* the call changes what it receives in */
};

/* ---- spans ---- */

static span_t hosted_span_of(const struct ompi_datatype_t *dtype, size_t count)
{
    ptrdiff_t extent = dtype->super.ub - dtype->super.lb;
    ptrdiff_t rest = count > 0 ? (ptrdiff_t) (count - 1) * extent : 0;
    span_t span = {.first = dtype->super.true_lb};

    if (0 == count) {
        return span;
    }
    span.first += rest < 0 ? rest : 0;
    span.length = (size_t) (dtype->super.true_ub - dtype->super.true_lb + (rest < 0 ? -rest : rest));
    return span;
}

/* Of all blocks of an Allgatherv. */
static span_t span_of_blocks(const mca_coll_optcast_call_t *call, int blocks)
{
    ptrdiff_t extent = call->dtype->super.ub - call->dtype->super.lb;
    ptrdiff_t first = PTRDIFF_MAX, end = PTRDIFF_MIN;

    for (int i = 0; i < blocks; i++) {
        span_t one = hosted_span_of(call->dtype, OC_MPI_COUNT(call->counts, i));
        ptrdiff_t at = OC_MPI_DISPL(call->displs, i) * extent + one.first;

        if (one.length > 0) {
            first = at < first ? at : first;
            end = at + (ptrdiff_t) one.length > end ? at + (ptrdiff_t) one.length : end;
        }
    }
    return end < first ? (span_t) {.length = 0}
                       : (span_t) {.first = first, .length = (size_t) (end - first)};
}

/* Of blocks that are of one length: elements that the call changes. */
static size_t recv_count(const mca_coll_optcast_call_t *call, int blocks)
{
    if (NULL != call->op) {
        return call->own;
    }
    return (size_t) call->count * (NULL != call->sdtype ? (size_t) blocks : 1);
}

static span_t recv_span(const mca_coll_optcast_module_t *m, const mca_coll_optcast_call_t *call)
{
    int blocks = ompi_comm_size(m->comm);

    if (NULL != call->op && MPI_IN_PLACE == call->sbuf) {
        return hosted_span_of(call->dtype, call->elements);
    }
    return call->unequal ? span_of_blocks(call, blocks)
                         : hosted_span_of(call->dtype, recv_count(call, blocks));
}

static span_t send_span(const mca_coll_optcast_call_t *call)
{
    return NULL != call->sdtype ? hosted_span_of(call->sdtype, (size_t) call->scount)
                                : hosted_span_of(call->dtype, call->elements);
}

/* ---- doubles ---- */

/* Reductions of Open MPI read and write on the host, whatever it knows of the memory. */
static bool needs_double(const mca_coll_optcast_call_t *call, const oc_device_t *device,
                         const void *memory)
{
    return NULL != device && (NULL != call->op || !mca_coll_optcast_is_known(memory));
}

/* Returns the address of the double, as a buffer of MPI; NULL: out of memory. */
static void *double_make(double_t *d, oc_device_t *device, const void *buffer, span_t span)
{
    size_t offset;

    d->device = device;
    d->memory = (char *) buffer + span.first;
    d->length = span.length;
    offset = (uintptr_t) d->memory % ALIGNMENT;
    if (0 != posix_memalign(&d->allocated, ALIGNMENT, span.length + ALIGNMENT)) {
        d->allocated = NULL;
        return NULL;
    }
    d->host = (char *) d->allocated + offset;
    return d->host - span.first;
}

/* Nobody can tell the others, who are in the previous module, that a rank has nothing to send. */
static void hosted_load(const ompi_communicator_t *comm, const double_t *d)
{
    if (NULL == d->device || 0 == d->length) {
        return;
    }
    mca_coll_optcast_count_staged(d->length);
    if (OC_OK != oc_device_copy(d->device, OC_FROM_DEVICE, d->host, d->memory, d->length)) {
        mca_coll_optcast_end_job(comm, d->device->ops->reason(d->device));
    }
}

/* A root of a Bcast only sends what it has. */
static bool is_bcast_root(const mca_coll_optcast_module_t *m, const mca_coll_optcast_call_t *call)
{
    return NULL == call->sdtype && NULL == call->op && call->root == ompi_comm_rank(m->comm);
}

/* False: out of memory; there is nothing of *h then. */
static bool doubles_make(mca_coll_optcast_hosted_t *h, span_t send, span_t recv, bool sends,
                         bool receives)
{
    const mca_coll_optcast_call_t call = h->call;

    if (receives) {
        h->call.rbuf = double_make(&h->recv, call.rdevice, call.rbuf, recv);
    }
    if (sends) {
        h->call.sbuf = double_make(&h->send, call.sdevice, call.sbuf, send);
    }
    return (!receives || NULL != h->recv.allocated) && (!sends || NULL != h->send.allocated);
}

static mca_coll_optcast_hosted_t *try_new(const mca_coll_optcast_module_t *m,
                                          const mca_coll_optcast_call_t *call, span_t send,
                                          span_t recv, bool sends, bool receives)
{
    mca_coll_optcast_hosted_t *h = calloc(1, sizeof(*h));

    if (NULL == h) {
        return NULL;
    }
    *h = (mca_coll_optcast_hosted_t) {
        .comm = m->comm,
        .call = *call,
        .rbuf = call->rbuf,
        .stores = receives && !is_bcast_root(m, call),
    };
    if (!doubles_make(h, send, recv, sends, receives)) {
        mca_coll_optcast_hosted_free(h);
        return NULL;
    }
    return h;
}

mca_coll_optcast_hosted_t *mca_coll_optcast_hosted_new(const mca_coll_optcast_module_t *m,
                                                       const mca_coll_optcast_call_t *call)
{
    mca_coll_optcast_hosted_t *h;
    span_t send, recv;
    bool sends, receives;

    if (NULL == call->sdevice && NULL == call->rdevice) {
        return NULL;
    }
    recv = recv_span(m, call);
    send = NULL == call->sdevice ? (span_t) {.length = 0} : send_span(call);
    receives = needs_double(call, call->rdevice, (char *) call->rbuf + recv.first);
    sends = needs_double(call, call->sdevice, (const char *) call->sbuf + send.first);
    if (!receives && !sends) {
        return NULL;
    }
    while (NULL == (h = try_new(m, call, send, recv, sends, receives))) {
        mca_coll_optcast_need(m->comm, "a copy of memory of a device");
    }
    return h;
}

const mca_coll_optcast_call_t *
mca_coll_optcast_hosted_call(const mca_coll_optcast_call_t *call,
                             const mca_coll_optcast_hosted_t *h)
{
    return NULL == h ? call : &h->call;
}

void mca_coll_optcast_hosted_load(const mca_coll_optcast_hosted_t *h)
{
    if (NULL != h) {
        hosted_load(h->comm, &h->send);
        hosted_load(h->comm, &h->recv);
    }
}

/* What is in gaps the program may have changed in the meantime. */
static int store(const mca_coll_optcast_hosted_t *h, ptrdiff_t displ, size_t count)
{
    const struct ompi_datatype_t *dtype = h->call.dtype;
    ptrdiff_t offset = displ * (dtype->super.ub - dtype->super.lb);

    return 0 == count * dtype->super.size
               ? OMPI_SUCCESS
               : mca_coll_optcast_store(h->recv.device, (char *) h->rbuf + offset, count, dtype,
                                        (const char *) h->call.rbuf + offset);
}

int mca_coll_optcast_hosted_store(const mca_coll_optcast_hosted_t *h)
{
    int blocks, rc = OMPI_SUCCESS;

    if (NULL == h || !h->stores) {
        return OMPI_SUCCESS;
    }
    blocks = ompi_comm_size(h->comm);
    if (!h->call.unequal) {
        return store(h, 0, recv_count(&h->call, blocks));
    }
    for (int i = 0; OMPI_SUCCESS == rc && i < blocks; i++) {
        rc = store(h, OC_MPI_DISPL(h->call.displs, i), OC_MPI_COUNT(h->call.counts, i));
    }
    return rc;
}

void mca_coll_optcast_hosted_free(mca_coll_optcast_hosted_t *h)
{
    if (NULL != h) {
        free(h->send.allocated);
        free(h->recv.allocated);
        free(h);
    }
}
