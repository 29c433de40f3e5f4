/* SPDX-License-Identifier: BSD-3-Clause */
/* The functions of the previous module, for calls whose buffers may be where these cannot reach. */
#include "coll_optcast_previous.h"

#include "coll_optcast_hosted.h"
#include "coll_optcast_operation.h"
#include "coll_optcast_request.h"

int mca_coll_optcast_previous(const mca_coll_optcast_module_t *m,
                              const mca_coll_optcast_call_t *call)
{
    mca_coll_optcast_hosted_t *h;
    int rc;

    if (NULL == call->sdevice && NULL == call->rdevice) {
        return call->operation->previous(m, call);
    }
    h = mca_coll_optcast_hosted_new(m, call);
    mca_coll_optcast_hosted_load(h);
    rc = call->operation->previous(m, mca_coll_optcast_hosted_call(call, h));
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
    int rc;

    r->hosted = h;
    mca_coll_optcast_hosted_load(h);
    rc = call->operation->previous_now(m, mca_coll_optcast_hosted_call(call, h), &r->inner);
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
    mca_coll_optcast_hosted_t *h = mca_coll_optcast_hosted_new(m, call);

    return NULL == h ? call->operation->previous_now(m, call, request)
                     : start_hosted(m, call, h, request);
}

int mca_coll_optcast_previous_init(const mca_coll_optcast_module_t *m,
                                   const mca_coll_optcast_call_t *call, struct ompi_info_t *info,
                                   ompi_request_t **request, mca_coll_optcast_hosted_t **hosted)
{
    int rc;

    *hosted = mca_coll_optcast_hosted_new(m, call);
    rc = call->operation->previous_init(m, mca_coll_optcast_hosted_call(call, *hosted), info,
                                        request);
    if (OMPI_SUCCESS != rc) {
        mca_coll_optcast_hosted_free(*hosted);
        *hosted = NULL;
    }
    return rc;
}
