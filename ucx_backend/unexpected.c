/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Messages that came before a receive was posted for them. UCX keeps them for ever, and in whole if
 * they were not announced; so their owner looks at them, and takes them away.
 */
#include "ucx_backend/worker_types.h"

#define ANY_TAG 0

static void *probe(oc_worker_t *worker, uint64_t tag, uint64_t mask, int remove,
                   oc_unexpected_t *message)
{
    ucp_tag_recv_info_t info;
    void *handle = ucp_tag_probe_nb(worker->worker, tag, mask, remove, &info);

    if (NULL != handle) {
        message->tag = info.sender_tag;
        message->length = info.length;
        message->handle = remove ? handle : NULL;
    }
    return handle;
}

bool oc_unexpected_look(oc_worker_t *worker, oc_unexpected_t *message)
{
    return NULL != probe(worker, 0, ANY_TAG, 0, message);
}

bool oc_unexpected_take(oc_worker_t *worker, uint64_t tag, uint64_t tag_mask,
                        oc_unexpected_t *message)
{
    return NULL != probe(worker, tag, tag_mask, 1, message);
}

static void on_dropped(void *request, ucs_status_t status, const ucp_tag_recv_info_t *info,
                       void *user_data)
{
    (void) status;
    (void) info;
    (void) user_data;
    ucp_request_free(request);
}

/* Into nothing: who announced it is told that it has been received. */
void oc_unexpected_drop(oc_worker_t *worker, const oc_unexpected_t *message)
{
    ucp_request_param_t param = {.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK,
                                 .cb.recv = on_dropped};

    (void) ucp_tag_msg_recv_nbx(worker->worker, NULL, 0, message->handle, &param);
}
