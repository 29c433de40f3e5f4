/* SPDX-License-Identifier: BSD-3-Clause */
/* The UCX side of workers, endpoints and transfers. */
#include "ucx_backend/worker.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucp/api/ucp.h>
#include <utlist.h>

#include "base/log.h"
#include "ucx_backend/context.h"
#include "ucx_backend/transports.h"

/* Calls of ucp_worker_progress in a row before completions are handed out. */
#define PROGRESS_BURST 64

/* How often a closing worker is progressed; the second half sleeps a millisecond each time. */
#define SETTLE_ROUNDS 400

struct oc_endpoint {
    oc_worker_t *worker;
    ucp_ep_h ep;                /* NULL once closing */
    void *close_request;
    void (*failed)(void *arg);
    void *arg;
    bool is_failed;             /* UCX gave it up */
    bool examined;              /* what its transports are, once somebody wanted to know */
    oc_transports_t transports;
    bool notified;
    oc_endpoint_t *prev, *next;
};

struct oc_mapping {
    ucp_mem_h handle;
    const char *memory;
    size_t length;
    unsigned users;
    oc_mapping_t *prev, *next;
};

struct oc_worker {
    ucp_context_h context;
    ucp_worker_h worker;
    ucp_address_t *address;
    size_t address_length;
    int event_fd;
    unsigned pending;
    bool endpoint_failed;       /* some endpoint has to be notified */
    bool thresholds_given;      /* the user says how large messages are sent */
    bool maps;                  /* whole vectors, until that has failed once */
    oc_mapping_t *mappings;
    oc_transfer_t *active;      /* UCX has them */
    oc_transfer_t *completed;   /* waiting for their callback */
    oc_endpoint_t *endpoints;
    oc_endpoint_t *closing;
};

static oc_status_t status_from_ucs(ucs_status_t status)
{
    switch (status) {
    case UCS_OK:
        return OC_OK;
    case UCS_INPROGRESS:
        return OC_IN_PROGRESS;
    case UCS_ERR_NO_MEMORY:
        return OC_ERR_NO_MEMORY;
    case UCS_ERR_CANCELED:
        return OC_ERR_CANCELED;
    case UCS_ERR_MESSAGE_TRUNCATED:
        return OC_ERR_TRUNCATED;
    case UCS_ERR_INVALID_PARAM:
    case UCS_ERR_INVALID_ADDR:
        return OC_ERR_INVALID;
    case UCS_ERR_UNREACHABLE:
    case UCS_ERR_NOT_CONNECTED:
    case UCS_ERR_CONNECTION_RESET:
    case UCS_ERR_ENDPOINT_TIMEOUT:
    case UCS_ERR_REJECTED:
        return OC_ERR_UNREACHABLE;
    default:
        return OC_ERR_SYSTEM;
    }
}

const char *oc_ucx_version(void)
{
    return ucp_get_version_string();
}

static ucs_status_t open_worker(oc_worker_t *worker)
{
    ucp_worker_params_t params = {
        .field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE,
        .thread_mode = UCS_THREAD_MODE_SERIALIZED,
    };
    ucp_context_attr_t attributes = {.field_mask = UCP_ATTR_FIELD_MEMORY_TYPES};
    ucs_status_t status = ucp_worker_create(worker->context, &params, &worker->worker);

    /* to map memory of the host means to register it with accelerators, too, if there are some */
    worker->maps = UCS_OK == ucp_context_query(worker->context, &attributes)
                   && UCS_BIT(UCS_MEMORY_TYPE_HOST) == attributes.memory_types;

    if (UCS_OK == status) {
        status = ucp_worker_get_address(worker->worker, &worker->address, &worker->address_length);
    }
    if (UCS_OK == status) {
        status = ucp_worker_get_efd(worker->worker, &worker->event_fd);
    }
    return status;
}

oc_status_t oc_worker_open(const char *net_devices, oc_worker_t **worker_p, char *error,
                           size_t error_size)
{
    oc_worker_t *worker = calloc(1, sizeof(*worker));
    ucs_status_t status;

    if (NULL == worker) {
        snprintf(error, error_size, "out of memory");
        return OC_ERR_NO_MEMORY;
    }
    worker->event_fd = -1;
    worker->thresholds_given = NULL != getenv("OPTCAST_UCX_RNDV_THRESH");
    status = oc_context_open(net_devices, &worker->context);
    if (UCS_OK == status) {
        status = open_worker(worker);
    }
    if (UCS_OK != status) {
        snprintf(error, error_size, "UCX cannot be used (%s): check the OPTCAST_UCX_* "
                 "settings; UCX_LOG_LEVEL=info shows what it tried", ucs_status_string(status));
        oc_worker_close(worker);
        return status_from_ucs(status);
    }
    *worker_p = worker;
    return OC_OK;
}

static void complete(oc_transfer_t *transfer, oc_status_t status)
{
    oc_worker_t *worker = transfer->worker;

    if (transfer->active) {
        DL_DELETE(worker->active, transfer);
        transfer->active = false;
    }
    transfer->called_back = true;
    transfer->status = status;
    DL_APPEND(worker->completed, transfer);
}

static unsigned hand_out(oc_worker_t *worker)
{
    oc_transfer_t *transfer;
    unsigned count = 0;

    while (NULL != (transfer = worker->completed)) {
        DL_DELETE(worker->completed, transfer);
        worker->pending--;
        count++;
        transfer->done(transfer);
    }
    return count;
}

/* A callback may close any endpoint, so the search starts anew after each. */
static unsigned notify_failures(oc_worker_t *worker)
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

static void reap_closed(oc_worker_t *worker)
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

unsigned oc_worker_progress(oc_worker_t *worker)
{
    unsigned count = 0;

    for (int i = 0; i < PROGRESS_BURST && NULL == worker->completed; i++) {
        if (0 == ucp_worker_progress(worker->worker)) {
            break;
        }
    }
    if (NULL != worker->closing) {
        reap_closed(worker);
    }
    if (worker->endpoint_failed) {
        count += notify_failures(worker);
    }
    return count + hand_out(worker);
}

/* UCX sometimes needs a moment to let go of what was canceled. */
static void settle(oc_worker_t *worker)
{
    oc_transfer_t *transfer, *next;

    DL_FOREACH_SAFE (worker->active, transfer, next) {
        ucp_request_cancel(worker->worker, transfer->request);
    }
    for (int i = 0; i < SETTLE_ROUNDS && (NULL != worker->active || NULL != worker->closing); i++) {
        ucp_worker_progress(worker->worker);
        reap_closed(worker);
        if (i > SETTLE_ROUNDS / 2) {
            poll(NULL, 0, 1);
        }
    }
}

static void close_ucx(oc_worker_t *worker)
{
    oc_endpoint_t *endpoint, *next;

    DL_FOREACH_SAFE (worker->endpoints, endpoint, next) {
        oc_endpoint_close(endpoint);
    }
    settle(worker);
    if (NULL != worker->address) {
        ucp_worker_release_address(worker->worker, worker->address);
    }
    ucp_worker_destroy(worker->worker);
    DL_FOREACH_SAFE (worker->closing, endpoint, next) {
        DL_DELETE(worker->closing, endpoint);
        free(endpoint);
    }
}

void oc_worker_close(oc_worker_t *worker)
{
    if (NULL == worker) {
        return;
    }
    if (NULL != worker->worker) {
        close_ucx(worker);
    }
    while (NULL != worker->active) {
        complete(worker->active, OC_ERR_CANCELED);
    }
    hand_out(worker);
    if (NULL != worker->context) {
        ucp_cleanup(worker->context);
    }
    free(worker);
}

const void *oc_worker_address(const oc_worker_t *worker, size_t *length)
{
    *length = worker->address_length;
    return worker->address;
}

unsigned oc_worker_pending(const oc_worker_t *worker)
{
    return worker->pending;
}

int oc_worker_event_fd(const oc_worker_t *worker)
{
    return worker->event_fd;
}

oc_status_t oc_worker_arm(oc_worker_t *worker)
{
    ucs_status_t status;

    if (NULL != worker->completed || worker->endpoint_failed || NULL != worker->closing) {
        return OC_IN_PROGRESS;
    }
    status = ucp_worker_arm(worker->worker);
    if (UCS_ERR_BUSY == status) {
        return OC_IN_PROGRESS;
    }
    return status_from_ucs(status);
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

    if (NULL == endpoint) {
        return OC_ERR_NO_MEMORY;
    }
    endpoint->worker = worker;
    endpoint->failed = failed;
    endpoint->arg = arg;
    status = ucp_ep_create(worker->worker, &params, &endpoint->ep);
    if (UCS_OK != status) {
        free(endpoint);
        return status_from_ucs(status);
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

static void on_sent(void *request, ucs_status_t status, void *user_data)
{
    ucp_request_free(request);
    complete(user_data, status_from_ucs(status));
}

static void on_received(void *request, ucs_status_t status, const ucp_tag_recv_info_t *info,
                        void *user_data)
{
    oc_transfer_t *transfer = user_data;

    if (UCS_OK == status) {
        transfer->length = info->length;
        transfer->tag = info->sender_tag;
    }
    ucp_request_free(request);
    complete(transfer, status_from_ucs(status));
}

static void prepare(oc_worker_t *worker, oc_transfer_t *transfer)
{
    transfer->worker = worker;
    transfer->active = false;
    transfer->called_back = false;
    worker->pending++;
}

/*
 * Whatever UCX answered to a send or receive becomes an entry in one of the two lists. The
 * callback may have run already, and then the request is gone.
 */
static void track(oc_transfer_t *transfer, ucs_status_ptr_t request)
{
    if (transfer->called_back) {
        return;
    }
    if (UCS_PTR_IS_PTR(request)) {
        transfer->request = request;
        transfer->active = true;
        DL_APPEND(transfer->worker->active, transfer);
        return;
    }
    complete(transfer, status_from_ucs(UCS_PTR_RAW_STATUS(request)));
}

void oc_transfer_fail(oc_worker_t *worker, oc_transfer_t *transfer, oc_status_t status)
{
    prepare(worker, transfer);
    complete(transfer, status);
}

static void send_message(oc_endpoint_t *endpoint, oc_transfer_t *transfer, const void *buffer,
                         size_t length, uint64_t tag, uint32_t flags)
{
    ucp_request_param_t param = {
        .op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA | flags,
        .cb.send = on_sent,
        .user_data = transfer,
    };

    if (endpoint->is_failed) {
        oc_transfer_fail(endpoint->worker, transfer, OC_ERR_UNREACHABLE);
        return;
    }
    prepare(endpoint->worker, transfer);
    transfer->length = length;
    track(transfer, ucp_tag_send_nbx(endpoint->ep, buffer, length, tag, &param));
}

void oc_send(oc_endpoint_t *endpoint, oc_transfer_t *transfer, const void *buffer, size_t length,
             uint64_t tag)
{
    send_message(endpoint, transfer, buffer, length, tag, 0);
}

/* UCX chooses the transports of an endpoint when it is made. */
static const oc_transports_t *transports_of(oc_endpoint_t *endpoint)
{
    if (!endpoint->examined && !endpoint->is_failed) {
        endpoint->transports = oc_transports_of(endpoint->ep);
        endpoint->examined = true;
    }
    return &endpoint->transports;
}

bool oc_endpoint_is_rdma(oc_endpoint_t *endpoint)
{
    return transports_of(endpoint)->rdma;
}

void oc_send_eager(oc_endpoint_t *endpoint, oc_transfer_t *transfer, const void *buffer,
                   size_t length, uint64_t tag)
{
    bool eager = !endpoint->worker->thresholds_given
                 && (length <= OC_SHORT_MESSAGE || transports_of(endpoint)->tcp);

    /* who asks for early completion gets the protocol that does not wait for the peer */
    send_message(endpoint, transfer, buffer, length, tag, eager ? UCP_OP_ATTR_FLAG_FAST_CMPL : 0);
}

/*
 * Completion at once is turned off: UCX 1.13 does not fill in recv_info then, and length and tag
 * would be lost.
 */
void oc_receive(oc_worker_t *worker, oc_transfer_t *transfer, void *buffer, size_t length,
                uint64_t tag, uint64_t tag_mask)
{
    ucp_request_param_t param = {
        .op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA
                        | UCP_OP_ATTR_FLAG_NO_IMM_CMPL,
        .cb.recv = on_received,
        .user_data = transfer,
    };

    prepare(worker, transfer);
    track(transfer, ucp_tag_recv_nbx(worker->worker, buffer, length, tag, tag_mask, &param));
}

void oc_receive_cancel(oc_transfer_t *transfer)
{
    if (transfer->active) {
        ucp_request_cancel(transfer->worker->worker, transfer->request);
    }
}

static oc_mapping_t *find_mapping(const oc_worker_t *worker, const char *memory, size_t length)
{
    oc_mapping_t *mapping;

    DL_FOREACH (worker->mappings, mapping) {
        if (memory >= mapping->memory && length <= mapping->length
            && (size_t) (memory - mapping->memory) <= mapping->length - length) {
            return mapping;
        }
    }
    return NULL;
}

/* UCX complains about memory that may not be registered: once is enough. */
static oc_mapping_t *new_mapping(oc_worker_t *worker, const void *memory, size_t length)
{
    oc_mapping_t *mapping = calloc(1, sizeof(*mapping));
    ucp_mem_map_params_t params = {
        .field_mask = UCP_MEM_MAP_PARAM_FIELD_ADDRESS | UCP_MEM_MAP_PARAM_FIELD_LENGTH,
        .address = (void *) memory,
        .length = length,
    };

    if (NULL == mapping) {
        return NULL;
    }
    if (UCS_OK != ucp_mem_map(worker->context, &params, &mapping->handle)) {
        worker->maps = false;
        free(mapping);
        return NULL;
    }
    mapping->memory = memory;
    mapping->length = length;
    DL_APPEND(worker->mappings, mapping);
    return mapping;
}

oc_mapping_t *oc_map(oc_worker_t *worker, const void *memory, size_t length)
{
    oc_mapping_t *mapping = find_mapping(worker, memory, length);

    if (NULL == mapping && worker->maps) {
        mapping = new_mapping(worker, memory, length);
    }
    if (NULL != mapping) {
        mapping->users++;
    }
    return mapping;
}

/* What ends is no longer found in UCX's cache, by nobody: hence one for all who use the memory. */
void oc_unmap(oc_worker_t *worker, oc_mapping_t *mapping)
{
    if (NULL != mapping && 0 == --mapping->users) {
        (void) ucp_mem_unmap(worker->context, mapping->handle);
        DL_DELETE(worker->mappings, mapping);
        free(mapping);
    }
}
