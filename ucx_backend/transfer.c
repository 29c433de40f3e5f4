/* SPDX-License-Identifier: BSD-3-Clause */
/* Transfers: sends and receives, and the lists that they go through to their callback. */
#include "ucx_backend/transfer.h"

#include <utlist.h>

#include "ucx_backend/endpoint.h"
#include "ucx_backend/ucx_status.h"

void oc_transfer_complete(oc_transfer_t *transfer, oc_status_t status)
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

unsigned oc_transfers_hand_out(oc_worker_t *worker)
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

void oc_transfers_cancel(oc_worker_t *worker)
{
    oc_transfer_t *transfer, *next;

    DL_FOREACH_SAFE (worker->active, transfer, next) {
        ucp_request_cancel(worker->worker, transfer->request);
    }
}

static void transfer_on_sent(void *request, ucs_status_t status, void *user_data)
{
    ucp_request_free(request);
    oc_transfer_complete(user_data, oc_status_from_ucs(status));
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
    oc_transfer_complete(transfer, oc_status_from_ucs(status));
}

static void transfer_prepare(oc_worker_t *worker, oc_transfer_t *transfer)
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
    oc_transfer_complete(transfer, oc_status_from_ucs(UCS_PTR_RAW_STATUS(request)));
}

void oc_transfer_fail(oc_worker_t *worker, oc_transfer_t *transfer, oc_status_t status)
{
    transfer_prepare(worker, transfer);
    oc_transfer_complete(transfer, status);
}

static void transfer_send_message(oc_endpoint_t *endpoint, oc_transfer_t *transfer,
                                  const void *buffer, size_t length, uint64_t tag, uint32_t flags)
{
    ucp_request_param_t param = {
        .op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA | flags,
        .cb.send = transfer_on_sent,
        .user_data = transfer,
    };

    if (endpoint->is_failed) {
        oc_transfer_fail(endpoint->worker, transfer, OC_ERR_UNREACHABLE);
        return;
    }
    transfer_prepare(endpoint->worker, transfer);
    transfer->length = length;
    track(transfer, ucp_tag_send_nbx(endpoint->ep, buffer, length, tag, &param));
}

void oc_send(oc_endpoint_t *endpoint, oc_transfer_t *transfer, const void *buffer, size_t length,
             uint64_t tag)
{
    transfer_send_message(endpoint, transfer, buffer, length, tag, 0);
}

void oc_send_eager(oc_endpoint_t *endpoint, oc_transfer_t *transfer, const void *buffer,
                   size_t length, uint64_t tag)
{
    bool eager = !endpoint->worker->thresholds_given
                 && (length <= OC_SHORT_MESSAGE || oc_endpoint_transports(endpoint)->tcp);

    /* who asks for early completion gets the protocol that does not wait for the peer */
    transfer_send_message(endpoint, transfer, buffer, length, tag,
                          eager ? UCP_OP_ATTR_FLAG_FAST_CMPL : 0);
}

/*
 * Completion at once is turned off: UCX 1.13 does not fill in recv_info then, and length and tag
 * would be lost.
 */
static ucp_request_param_t receive_param(oc_transfer_t *transfer)
{
    return (ucp_request_param_t) {
        .op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA
                        | UCP_OP_ATTR_FLAG_NO_IMM_CMPL,
        .cb.recv = on_received,
        .user_data = transfer,
    };
}

void oc_receive(oc_worker_t *worker, oc_transfer_t *transfer, void *buffer, size_t length,
                uint64_t tag, uint64_t tag_mask)
{
    ucp_request_param_t param = receive_param(transfer);

    transfer_prepare(worker, transfer);
    track(transfer, ucp_tag_recv_nbx(worker->worker, buffer, length, tag, tag_mask, &param));
}

void oc_unexpected_receive(oc_worker_t *worker, oc_transfer_t *transfer, void *buffer,
                           size_t length, const oc_unexpected_t *message)
{
    ucp_request_param_t param = receive_param(transfer);

    transfer_prepare(worker, transfer);
    track(transfer, ucp_tag_msg_recv_nbx(worker->worker, buffer, length, message->handle, &param));
}

bool oc_worker_holds(oc_worker_t *worker, uint64_t tag, uint64_t tag_mask)
{
    ucp_tag_recv_info_t info;

    return NULL != ucp_tag_probe_nb(worker->worker, tag, tag_mask, 0, &info);
}

void oc_receive_cancel(oc_transfer_t *transfer)
{
    if (transfer->active) {
        ucp_request_cancel(transfer->worker->worker, transfer->request);
    }
}
