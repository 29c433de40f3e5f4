/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Calls that are left to the previous module although it cannot reach their buffers: those get
 * doubles in host memory, as a whole, for nobody knows in which order it goes through them. Open
 * MPI's own components for that see blocking reductions only, before they come here.
 */
#include "coll_optcast.h"

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
    mca_coll_optcast_call_t call; /* with doubles as its buffers */
    double_t send, recv;
    bool stores;               /* the call changes what it receives in */
};

/* ---- spans ---- */

static span_t span_of(const struct ompi_datatype_t *dtype, size_t count)
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
        span_t one = span_of(call->dtype, OC_MPI_COUNT(call->counts, i));
        ptrdiff_t at = OC_MPI_DISPL(call->displs, i) * extent + one.first;

        if (one.length > 0) {
            first = at < first ? at : first;
            end = at + (ptrdiff_t) one.length > end ? at + (ptrdiff_t) one.length : end;
        }
    }
    return end < first ? (span_t) {.length = 0}
                       : (span_t) {.first = first, .length = (size_t) (end - first)};
}

static span_t recv_span(const mca_coll_optcast_module_t *m, const mca_coll_optcast_call_t *call)
{
    int blocks = ompi_comm_size(m->comm);

    if (call->unequal) {
        return span_of_blocks(call, blocks);
    }
    return span_of(call->dtype,
                   (size_t) call->count * (NULL != call->sdtype ? (size_t) blocks : 1));
}

static span_t send_span(const mca_coll_optcast_call_t *call)
{
    return NULL != call->sdtype ? span_of(call->sdtype, (size_t) call->scount)
                                : span_of(call->dtype, (size_t) call->count);
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

static int load(const double_t *d)
{
    if (NULL == d->device || 0 == d->length) {
        return OMPI_SUCCESS;
    }
    mca_coll_optcast_count_staged(d->length);
    return OC_OK == oc_device_copy(d->device, OC_FROM_DEVICE, d->host, d->memory, d->length)
               ? OMPI_SUCCESS
               : OMPI_ERROR;
}

/* A root of a Bcast only sends what it has. */
static bool is_bcast_root(const mca_coll_optcast_module_t *m, const mca_coll_optcast_call_t *call)
{
    return NULL == call->sdtype && NULL == call->op && call->root == ompi_comm_rank(m->comm);
}

static int doubles_new(const mca_coll_optcast_module_t *m, const mca_coll_optcast_call_t *call,
                       mca_coll_optcast_hosted_t **result)
{
    span_t recv = recv_span(m, call);
    span_t send = NULL == call->sdevice ? (span_t) {.length = 0} : send_span(call);
    bool receives = needs_double(call, call->rdevice, (char *) call->rbuf + recv.first);
    bool sends = needs_double(call, call->sdevice, (const char *) call->sbuf + send.first);
    mca_coll_optcast_hosted_t *h;

    if (!receives && !sends) {
        return OMPI_SUCCESS;
    }
    h = calloc(1, sizeof(*h));
    if (NULL == h) {
        return OMPI_ERR_OUT_OF_RESOURCE;
    }
    h->call = *call;
    h->stores = receives && !is_bcast_root(m, call);
    if (receives) {
        h->call.rbuf = double_make(&h->recv, call->rdevice, call->rbuf, recv);
    }
    if (sends) {
        h->call.sbuf = double_make(&h->send, call->sdevice, call->sbuf, send);
    }
    if ((receives && NULL == h->recv.allocated) || (sends && NULL == h->send.allocated)) {
        mca_coll_optcast_hosted_free(h);
        return OMPI_ERR_OUT_OF_RESOURCE;
    }
    *result = h;
    return OMPI_SUCCESS;
}

static const mca_coll_optcast_call_t *hosted_call(const mca_coll_optcast_call_t *call,
                                                  const mca_coll_optcast_hosted_t *h)
{
    return NULL == h ? call : &h->call;
}

/* *result is NULL if the previous module reaches all buffers. */
static int hosted_new(const mca_coll_optcast_module_t *m, const mca_coll_optcast_call_t *call,
                      mca_coll_optcast_hosted_t **result)
{
    *result = NULL;
    return NULL == call->sdevice && NULL == call->rdevice ? OMPI_SUCCESS
                                                          : doubles_new(m, call, result);
}

/* What is in gaps, and in place, is there before, too. */
int mca_coll_optcast_hosted_load(const mca_coll_optcast_hosted_t *h)
{
    int rc;

    if (NULL == h) {
        return OMPI_SUCCESS;
    }
    rc = load(&h->send);
    return OMPI_SUCCESS == rc ? load(&h->recv) : rc;
}

int mca_coll_optcast_hosted_store(const mca_coll_optcast_hosted_t *h)
{
    if (NULL == h || !h->stores || 0 == h->recv.length) {
        return OMPI_SUCCESS;
    }
    mca_coll_optcast_count_staged(h->recv.length);
    return OC_OK
                   == oc_device_copy(h->recv.device, OC_TO_DEVICE, h->recv.memory, h->recv.host,
                                     h->recv.length)
               ? OMPI_SUCCESS
               : OMPI_ERROR;
}

void mca_coll_optcast_hosted_free(mca_coll_optcast_hosted_t *h)
{
    if (NULL != h) {
        free(h->send.allocated);
        free(h->recv.allocated);
        free(h);
    }
}

/* ---- calls ---- */

int mca_coll_optcast_previous(const mca_coll_optcast_module_t *m,
                              const mca_coll_optcast_call_t *call)
{
    mca_coll_optcast_hosted_t *h;
    int rc;

    if (NULL == call->sdevice && NULL == call->rdevice) {
        return call->operation->previous(m, call);
    }
    rc = hosted_new(m, call, &h);
    if (OMPI_SUCCESS == rc) {
        rc = mca_coll_optcast_hosted_load(h);
    }
    if (OMPI_SUCCESS == rc) {
        rc = call->operation->previous(m, hosted_call(call, h));
    }
    if (OMPI_SUCCESS == rc) {
        rc = mca_coll_optcast_hosted_store(h);
    }
    mca_coll_optcast_hosted_free(h);
    return rc;
}

/* The previous module's request becomes the inner one of one that takes the result over. */
static int start_hosted(mca_coll_optcast_module_t *m, const mca_coll_optcast_call_t *call,
                        mca_coll_optcast_hosted_t *h, ompi_request_t **request)
{
    mca_coll_optcast_request_t *r = mca_coll_optcast_request_new(m, call, NULL);
    int rc = mca_coll_optcast_hosted_load(h);

    r->hosted = h;
    if (OMPI_SUCCESS == rc) {
        rc = call->operation->previous_now(m, &h->call, &r->inner);
    }
    if (OMPI_SUCCESS != rc) {
        r->inner = NULL;
        mca_coll_optcast_request_discard(r);
        return rc;
    }
    mca_coll_optcast_request_await_inner(r);
    *request = &r->super.super;
    return OMPI_SUCCESS;
}

int mca_coll_optcast_previous_now(mca_coll_optcast_module_t *m, const mca_coll_optcast_call_t *call,
                                  ompi_request_t **request)
{
    mca_coll_optcast_hosted_t *h;
    int rc = hosted_new(m, call, &h);

    if (OMPI_SUCCESS != rc) {
        return rc;
    }
    return NULL == h ? call->operation->previous_now(m, call, request)
                     : start_hosted(m, call, h, request);
}

int mca_coll_optcast_previous_init(const mca_coll_optcast_module_t *m,
                                   const mca_coll_optcast_call_t *call, struct ompi_info_t *info,
                                   ompi_request_t **request, mca_coll_optcast_hosted_t **hosted)
{
    int rc = hosted_new(m, call, hosted);

    if (OMPI_SUCCESS == rc) {
        rc = call->operation->previous_init(m, hosted_call(call, *hosted), info,
                                            request);
    }
    if (OMPI_SUCCESS != rc) {
        mca_coll_optcast_hosted_free(*hosted);
        *hosted = NULL;
    }
    return rc;
}
