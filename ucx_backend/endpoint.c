/* SPDX-License-Identifier: BSD-3-Clause */
/* Endpoints: their life, what they use, and that UCX has given one up. */
#include "ucx_backend/endpoint.h"

#include <stdlib.h>
#include <utlist.h>

#include "base/log.h"
#include "base/signals.h"
#include "ucx_backend/ucx_status.h"

/* A callback may close any endpoint, so the search starts anew after each. */
unsigned oc_endpoints_notify(oc_worker_t *worker)
{
    oc_endpoint_t *endpoint;
    unsigned count = 0;

    while (worker->endpoint_failed) {
        worker->endpoint_failed = false;
        DL_FOREACH (worker->endpoints, endpoint) {
            if (endpoint->is_failed && !endpoint->notified) {
                endpoint->notified = true;
                worker->endpoint_failed = true;
                count++;
                endpoint->failed(endpoint->arg);
                break;
            }
        }
    }
    return count;
}

void oc_endpoints_reap(oc_worker_t *worker)
{
    oc_endpoint_t *endpoint, *next;

    DL_FOREACH_SAFE (worker->closing, endpoint, next) {
        if (NULL == endpoint->close_request
            || UCS_INPROGRESS != ucp_request_check_status(endpoint->close_request)) {
            if (NULL != endpoint->close_request) {
                ucp_request_free(endpoint->close_request);
            }
            DL_DELETE(worker->closing, endpoint);
            free(endpoint);
        }
    }
}

static void on_endpoint_error(void *arg, ucp_ep_h ep, ucs_status_t status)
{
    oc_endpoint_t *endpoint = arg;

    (void) ep;
    oc_debug("endpoint failed: %s", ucs_status_string(status));
    endpoint->is_failed = true;
    endpoint->worker->endpoint_failed = true;
}

oc_status_t oc_endpoint_open(oc_worker_t *worker, const void *address, void (*failed)(void *arg),
                             void *arg, oc_endpoint_t **endpoint_p)
{
    oc_endpoint_t *endpoint = calloc(1, sizeof(*endpoint));
    ucp_ep_params_t params = {
        .field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS | UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE
                      | UCP_EP_PARAM_FIELD_ERR_HANDLER,
        .address = address,
        .err_mode = UCP_ERR_HANDLING_MODE_PEER,
        .err_handler = {.cb = on_endpoint_error, .arg = endpoint},
    };
    ucs_status_t status;
    sigset_t before;

    if (NULL == endpoint) {
        return OC_ERR_NO_MEMORY;
    }
    endpoint->worker = worker;
    endpoint->failed = failed;
    endpoint->arg = arg;
    /* a transport that had no use for UCX's thread before may begin it here */
    oc_signals_block(&before);
    status = ucp_ep_create(worker->worker, &params, &endpoint->ep);
    oc_signals_restore(&before);
    if (UCS_OK != status) {
        free(endpoint);
        return oc_status_from_ucs(status);
    }
    DL_APPEND(worker->endpoints, endpoint);
    *endpoint_p = endpoint;
    return OC_OK;
}

void oc_endpoint_close(oc_endpoint_t *endpoint)
{
    ucp_request_param_t param = {
        .op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS,
        .flags = UCP_EP_CLOSE_FLAG_FORCE,
    };
    ucs_status_ptr_t request;

    if (NULL == endpoint) {
        return;
    }
    request = ucp_ep_close_nbx(endpoint->ep, &param);
    endpoint->ep = NULL;
    endpoint->close_request = UCS_PTR_IS_PTR(request) ? request : NULL;
    DL_DELETE(endpoint->worker->endpoints, endpoint);
    DL_APPEND(endpoint->worker->closing, endpoint);
}

/* UCX chooses the transports of an endpoint when it is made. */
const oc_ucx_transports_t *oc_endpoint_transports(oc_endpoint_t *endpoint)
{
    if (!endpoint->examined && !endpoint->is_failed) {
        endpoint->transports = oc_ucx_transports_of(endpoint->ep);
        endpoint->examined = true;
    }
    return &endpoint->transports;
}

bool oc_endpoint_is_rdma(oc_endpoint_t *endpoint)
{
    return oc_endpoint_transports(endpoint)->rdma;
}

void oc_endpoints_close(oc_worker_t *worker)
{
    oc_endpoint_t *endpoint, *next;

    DL_FOREACH_SAFE (worker->endpoints, endpoint, next) {
        oc_endpoint_close(endpoint);
    }
}

void oc_endpoints_free(oc_worker_t *worker)
{
    oc_endpoint_t *endpoint, *next;

    DL_FOREACH_SAFE (worker->closing, endpoint, next) {
        DL_DELETE(worker->closing, endpoint);
        free(endpoint);
    }
}
