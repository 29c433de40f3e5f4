/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A leaf's groups on the server above, and its messages with header to and from there. What it says
 * of collectives is in above_large.c and above_small.c.
 */
#include <assert.h>
#include <stdlib.h>

#include "protocol/tag.h"
#include "server/aggregator/above.h"
#include "server/aggregator/above_inside.h"
#include "server/aggregator/server_codes.h"
#include "server/aggregator/early.h"
#include "server/aggregator/server_group.h"
#include "server/aggregator/ready.h"
#include "server/aggregator/receivers.h"
#include "server/aggregator/replies.h"

static void on_parent_failed(void *arg)
{
    oc_aggregator_t *aggregator = arg;
    oc_command_t *command = oc_command_new(OC_COMMAND_PARENT_LOST, NULL, 0);

    if (NULL != command) {
        oc_mailbox_post(aggregator->config.control, command);
    }
}

void oc_above_connect(oc_aggregator_t *aggregator, const void *address)
{
    aggregator->eager_window = OC_EAGER_WINDOW;
    if (OC_OK != oc_endpoint_open(aggregator->worker, address, on_parent_failed, aggregator,
                                  &aggregator->parent)) {
        on_parent_failed(aggregator);
    }
}

/* ---- groups ---- */

bool oc_above_is_forged(const oc_server_group_t *group, const oc_transfer_t *transfer,
                        const uint8_t *message, oc_header_t *header)
{
    if (group->failed || (OC_OK != transfer->status && OC_ERR_TRUNCATED != transfer->status)
        || oc_server_is_from_above(group, transfer, message, header)) {
        return false;
    }
    oc_server_count_forged(group->aggregator, transfer->length);
    return true;
}

static void receive_ready(oc_server_group_t *group);

static void above_on_ready(oc_transfer_t *transfer)
{
    oc_above_t *above = (oc_above_t *) transfer;
    oc_server_group_t *group = above->group;
    oc_header_t header = {0};

    if (oc_above_is_forged(group, transfer, above->bytes, &header)) {
        receive_ready(group);
    } else if (OC_MESSAGE_READY == header.message) {
        above->chunk_bytes = header.chunk_bytes;
        above->ready = true;
        oc_ready_tell_all(group);
    } else if (OC_ERR_CANCELED != transfer->status) {
        oc_server_group_failed(group, OC_ERR_INVALID,
                               "the parent server sent something else than READY");
    }
    oc_server_group_release(group);
}

static void receive_ready(oc_server_group_t *group)
{
    oc_above_t *above = group->above;

    above->transfer.done = above_on_ready;
    oc_server_group_hold(group);
    oc_early_receive(group, &above->transfer, above->bytes, OC_HEADER_SIZE,
                     oc_tag(OC_KIND_REPLY, group->handle, group->index, 0, OC_READY_SLOT));
}

bool oc_above_new(oc_server_group_t *group, uint32_t leaf)
{
    oc_above_t *above = calloc(1, sizeof(*above));

    if (NULL == above) {
        return false;
    }
    above->group = group;
    above->leaf = leaf;
    group->above = above;
    receive_ready(group);
    return true;
}

void oc_above_joined(oc_server_group_t *group, uint32_t handle)
{
    if (NULL != group->above) {
        group->above->handle = handle;
        group->above->joined = true;
        oc_ready_tell_all(group);
    }
}

void oc_above_limit(oc_aggregator_t *aggregator, uint64_t eager_window)
{
    if (eager_window < aggregator->eager_window) {
        aggregator->eager_window = eager_window;
    }
}

void oc_above_cancel(oc_server_group_t *group)
{
    if (NULL != group->above) {
        oc_receive_cancel(&group->above->transfer);
    }
}

/* ---- messages with header ---- */

void oc_above_send(oc_server_group_t *group, oc_transfer_t *transfer, const void *data,
                   size_t length, uint64_t tag, bool eager)
{
    oc_aggregator_t *aggregator = group->aggregator;

    if (NULL == aggregator->parent) {
        oc_transfer_fail(aggregator->worker, transfer, OC_ERR_UNREACHABLE);
    } else if (eager) {
        oc_send_eager(aggregator->parent, transfer, data, length, tag);
    } else {
        oc_send(aggregator->parent, transfer, data, length, tag);
    }
}

uint64_t oc_above_request_tag(const oc_reduction_t *reduction)
{
    const oc_above_t *above = reduction->group->above;

    assert(above->joined && above->ready);
    return oc_tag(OC_KIND_REQUEST, above->handle, above->leaf, reduction->sequence, 0);
}

oc_header_t oc_above_header(const oc_reduction_t *reduction, uint8_t message)
{
    oc_header_t header = reduction->header;

    header.message = message;
    header.handle = reduction->group->above->handle;
    header.rank = reduction->group->above->leaf;
    if (NULL != reduction->owns) {
        header.own = oc_receivers_of_leaf(reduction);
    }
    return header;
}

void oc_above_send_header(oc_reduction_t *reduction, uint8_t message)
{
    oc_server_group_t *group = reduction->group;
    oc_header_t header = oc_above_header(reduction, message);
    oc_header_message_t *request = oc_header_message_new(group);

    if (NULL != request) {
        oc_server_seal_above(group, &header, request->bytes, OC_HEADER_SIZE);
        oc_above_send(group, &request->transfer, request->bytes, OC_HEADER_SIZE,
                      oc_above_request_tag(reduction), true);
    }
}

void oc_above_receive(oc_reduction_t *reduction, void *buffer, size_t length, uint64_t slot,
                      void (*done)(oc_transfer_t *transfer))
{
    oc_server_group_t *group = reduction->group;

    assert(!reduction->down_posted);
    reduction->down.reduction = reduction;
    reduction->down.transfer.done = done;
    reduction->down_tag = oc_tag(OC_KIND_REPLY, group->handle, group->index, reduction->sequence,
                                 slot);
    reduction->down_posted = true;
    oc_server_group_hold(group);
    oc_early_receive(group, &reduction->down.transfer, buffer, length, reduction->down_tag);
}

bool oc_above_has_answered(oc_reduction_t *reduction, const oc_transfer_t *transfer,
                           const void *bytes, uint8_t message)
{
    oc_server_group_t *group = reduction->group;
    oc_header_t header;

    if (OC_OK == transfer->status && OC_OK == oc_header_decode(bytes, transfer->length, &header)
        && message == header.message && header.handle == group->above->handle
        && header.rank == group->index && header.sequence == reduction->sequence
        && header.op == reduction->header.op && header.type == reduction->header.type
        && header.count == reduction->header.count
        && header.chunk_bytes == reduction->header.chunk_bytes) {
        return true;
    }
    oc_server_group_failed(group, OC_ERR_INVALID,
                           "the parent server's answer does not fit collective %llu: %s",
                           (unsigned long long) reduction->sequence,
                           oc_status_string(transfer->status));
    return false;
}

void oc_above_cancel_reduction(oc_reduction_t *reduction)
{
    oc_receive_cancel(&reduction->down.transfer);
}
