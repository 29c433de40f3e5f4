/* SPDX-License-Identifier: BSD-3-Clause */
/* The end of a group for all of its ranks. */
#include "multicast/core/fail.h"

#include <stdio.h>
#include <string.h>
#include <utlist.h>

#include "multicast/core/deliver.h"
#include "multicast/core/operation.h"

/* Without a word to the others. */
static void fail_become_failed(oc_cast_group_t *group, oc_status_t status, const char *reason)
{
    oc_cast_operation_t *active = group->active, *operation, *next;

    group->status = status;
    snprintf(group->reason, sizeof(group->reason), "%s", reason);
    group->active = NULL;
    if (NULL != active) {
        oc_operation_finish(group, active, status);
    }
    DL_FOREACH_SAFE (group->queue, operation, next) {
        DL_DELETE(group->queue, operation);
        oc_operation_finish(group, operation, status);
    }
}

void oc_cast_group_fail(oc_cast_group_t *group, oc_status_t status, const char *reason)
{
    oc_cast_message_t message = {.kind = OC_CAST_ABORT, .status = (int32_t) status};

    if (OC_OK != group->status) {
        return;
    }
    message.generation = group->generation;
    message.data = (const uint8_t *) reason;
    message.data_length = strnlen(reason, OC_CAST_MAX_TEXT);
    for (uint32_t rank = 0; rank < group->config.num_ranks; rank++) {
        if (rank != group->config.rank) {
            oc_cast_deliver(group, rank, &message);
        }
    }
    fail_become_failed(group, status, reason);
}

void oc_cast_group_follow(oc_cast_group_t *group, const oc_cast_group_t *failed)
{
    if (OC_OK == group->status) {
        fail_become_failed(group, failed->status, failed->reason);
    }
}

void oc_cast_aborted(oc_cast_group_t *group, const oc_cast_message_t *message)
{
    oc_cast_message_t copy = *message;
    char reason[OC_CAST_REASON_SIZE];

    snprintf(reason, sizeof(reason), "%.*s", (int) message->data_length,
             (const char *) message->data);
    /* who told this rank may not have reached all: it is passed on, once, along the tree */
    for (uint32_t i = 0; i < group->num_neighbours; i++) {
        if (group->neighbours[i].rank != message->rank) {
            oc_cast_deliver(group, group->neighbours[i].rank, &copy);
        }
    }
    /* a number from the wire may be anything; only errors are errors */
    fail_become_failed(
        group, message->status < OC_OK ? (oc_status_t) message->status : OC_ERR_REFUSED, reason);
}
