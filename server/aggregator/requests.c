/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages with header: receives that are always posted, and where each message goes. */
#include "server/aggregator/requests.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <utlist.h>

#include "base/log.h"
#include "protocol/tag.h"
#include "server/aggregator/server_arrival.h"
#include "server/aggregator/server_codes.h"
#include "server/aggregator/server_group.h"
#include "server/aggregator/server_lookup.h"

static oc_status_t post_one(oc_aggregator_t *aggregator);

/* It has been dealt with, and may be posted again. */
static void requests_release(oc_request_t *request)
{
    LL_PREPEND(request->aggregator->spare, request);
}

/* With less of them posted than there should be, messages would wait for ever in the end. */
static void out_of_memory(oc_aggregator_t *aggregator)
{
    oc_command_t *command = oc_command_new(OC_COMMAND_JOB_ERROR, NULL, 0);

    if (NULL != command) {
        command->status = OC_ERR_NO_MEMORY;
        snprintf(command->text, sizeof(command->text), "the server is out of memory");
        oc_mailbox_post(aggregator->config.control, command);
    }
}

/*
 * Ranks send when all of them have joined. If one is missing it has joined the process that served
 * the job before and is lost with that: it will never come, and nobody else would tell.
 */
static bool is_complete(oc_server_group_t *group)
{
    char name[OC_MEMBER_NAME_SIZE];
    uint32_t rank = 0;

    if (group->num_joined == group->num_ranks) {
        return true;
    }
    while (group->members[rank].joined) {
        rank++;
        assert(rank < group->num_ranks);
    }
    oc_server_group_failed(group, OC_ERR_UNREACHABLE, "%s lost its connection to this "
                           "server while the communicator was set up",
                           oc_server_group_member_name(group, rank, name));
    return false;
}

/* Before that the server has no memory for it, or no parent. */
static bool was_told_ready(oc_server_group_t *group, uint32_t rank)
{
    char name[OC_MEMBER_NAME_SIZE];

    if (!group->members[rank].told) {
        oc_server_group_failed(group, OC_ERR_INVALID, "%s began before the server said READY",
                               oc_server_group_member_name(group, rank, name));
    }
    return group->members[rank].told;
}

static void dispatch(oc_aggregator_t *aggregator, oc_request_t *request)
{
    oc_header_t *header = &request->header;
    oc_server_group_t *group;

    if (OC_OK != request->transfer.status
        || OC_OK != oc_header_decode(request->bytes, request->transfer.length, header)) {
        oc_server_count_forged(aggregator, request->transfer.length);
        return;
    }
    group = oc_server_group_find(aggregator, header->handle, header->rank);
    if (NULL == group || group->failed) {
        oc_debug("a message for group %u was dropped", header->handle);
    } else if (!oc_server_is_genuine(group, request)) {
        oc_server_count_forged(aggregator, request->transfer.length);
    } else if (is_complete(group) && was_told_ready(group, header->rank)) {
        oc_reduction_request(group, request);
    }
}

static void on_request(oc_transfer_t *transfer)
{
    oc_request_t *request = (oc_request_t *) transfer;
    oc_aggregator_t *aggregator = request->aggregator;

    DL_DELETE(aggregator->posted, request);
    aggregator->received++;
    if (OC_ERR_CANCELED == transfer->status || aggregator->stop) {
        free(request);
        return;
    }
    if (OC_OK != post_one(aggregator)) {
        out_of_memory(aggregator);
    }
    dispatch(aggregator, request);
    requests_release(request);
}

static oc_request_t *request_new(oc_aggregator_t *aggregator)
{
    oc_request_t *request = aggregator->spare;

    if (NULL != request) {
        LL_DELETE(aggregator->spare, request);
        return request;
    }
    if (0 != posix_memalign((void **) &request, 64, sizeof(*request))) {
        return NULL;
    }
    return request;
}

static oc_status_t post_one(oc_aggregator_t *aggregator)
{
    oc_request_t *request = request_new(aggregator);

    if (NULL == request) {
        return OC_ERR_NO_MEMORY;
    }
    request->aggregator = aggregator;
    request->transfer.done = on_request;
    request->transfer.length = 0;
    DL_APPEND(aggregator->posted, request);
    oc_receive(aggregator->worker, &request->transfer, request->bytes, sizeof(request->bytes),
               oc_tag(OC_KIND_REQUEST, 0, 0, 0, 0), OC_TAG_KIND_MASK);
    return OC_OK;
}

oc_status_t oc_requests_post(oc_aggregator_t *aggregator)
{
    oc_status_t status = OC_OK;

    for (int i = 0; i < OC_POSTED_REQUESTS && OC_OK == status; i++) {
        status = post_one(aggregator);
    }
    return status;
}

void oc_requests_free(oc_aggregator_t *aggregator)
{
    oc_request_t *request, *next;

    LL_FOREACH_SAFE (aggregator->spare, request, next) {
        free(request);
    }
    aggregator->spare = NULL;
    assert(NULL == aggregator->posted);
}
