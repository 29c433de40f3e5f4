/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A leaf's small collectives and the server above. The partial result lies where the reply is going
 * to be. So that is received when the other has gone: what comes in the parent's name must not go
 * up in this leaf's.
 */
#include "server/aggregator/above.h"
#include "server/aggregator/above_inside.h"
#include "server/aggregator/server_codes.h"
#include "server/aggregator/server_group.h"
#include "server/aggregator/replies.h"
#include "server/aggregator/server_small.h"

static void on_small_sent(oc_transfer_t *transfer);
static void on_small_reply(oc_transfer_t *transfer);

void oc_above_small(oc_reduction_t *reduction)
{
    oc_server_group_t *group = reduction->group;
    oc_header_t header = oc_above_header(reduction, OC_MESSAGE_SMALL);
    uint8_t *message = reduction->held[0];
    size_t length = OC_HEADER_SIZE + header.chunk_bytes;

    oc_server_seal_above(group, &header, message, length);
    reduction->up = (oc_reply_transfer_t) {.transfer.done = on_small_sent, .reduction = reduction};
    oc_server_group_hold(group);
    oc_above_send(group, &reduction->up.transfer, message, length,
                  oc_above_request_tag(reduction), true);
}

/* A result takes the place of what was sent, data and header; RESEND only that of the header. */
static void receive_small(oc_reduction_t *reduction)
{
    oc_above_receive(reduction, reduction->held[0],
                     OC_HEADER_SIZE + reduction->header.chunk_bytes, 0, on_small_reply);
}

static void on_small_sent(oc_transfer_t *transfer)
{
    oc_reduction_t *reduction = ((oc_reply_transfer_t *) transfer)->reduction;
    oc_server_group_t *group = reduction->group;

    oc_aggregator_check_sent(group, transfer);
    if (!group->failed && OC_OK == transfer->status) {
        receive_small(reduction);
    }
    oc_server_group_release(group);
}

/* As for ranks: an aggregator asks once, when it has room. */
static void above_small_on_resend(oc_reduction_t *reduction)
{
    if (reduction->resent_above) {
        oc_server_group_failed(reduction->group, OC_ERR_INVALID, "the parent server asked "
                               "twice for the contribution to collective %llu",
                               (unsigned long long) reduction->sequence);
        return;
    }
    if (!oc_above_has_answered(reduction, &reduction->down.transfer, reduction->held[0],
                               OC_MESSAGE_RESEND)) {
        return;
    }
    if (reduction->spoiled) {
        oc_server_group_failed(reduction->group, OC_ERR_INVALID, "the contribution to "
                               "collective %llu cannot be sent again: a forged message in the "
                               "name of the parent server has taken its place",
                               (unsigned long long) reduction->sequence);
        return;
    }
    reduction->resent_above = true;
    oc_above_small(reduction);
}

static void on_small_reply(oc_transfer_t *transfer)
{
    oc_reduction_t *reduction = ((oc_reply_transfer_t *) transfer)->reduction;
    oc_server_group_t *group = reduction->group;
    oc_header_t header;

    reduction->down_posted = false;
    if (oc_above_is_forged(group, transfer, reduction->held[0], &header)) {
        reduction->spoiled = true;
        receive_small(reduction);
    } else if (!group->failed && OC_OK == transfer->status && OC_HEADER_SIZE == transfer->length) {
        above_small_on_resend(reduction);
    } else if (!group->failed
               && oc_above_has_answered(reduction, transfer, reduction->held[0],
                                        OC_MESSAGE_RESULT)) {
        oc_server_small_result(reduction);
    }
    oc_server_group_release(group);
}
