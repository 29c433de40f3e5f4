/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What arrives for a group. Nothing of it counts before its code has been found to fit: whatever
 * comes of a datagram or message that does not is one more in a counter.
 */
#include <string.h>

#include "multicast/core/alternate.h"
#include "multicast/core/cast_probe.h"
#include "multicast/core/cast_tree.h"
#include "multicast/core/chain.h"
#include "multicast/core/credit.h"
#include "multicast/core/deliver.h"
#include "multicast/core/fail.h"
#include "multicast/core/fragment.h"
#include "multicast/core/poll.h"
#include "multicast/core/post.h"
#include "multicast/core/recast.h"
#include "multicast/core/reception.h"
#include "multicast/core/repair.h"
#include "multicast/core/route.h"
#include "multicast/core/serve.h"
#include "multicast/core/unicast.h"

/* The owner alone knows what its block is, and a repair may be from any rank. */
static void take_misfit(oc_cast_group_t *group, const oc_datagram_t *header, bool is_more)
{
    if (OC_DATAGRAM_REPAIR == header->kind) {
        group->config.counters->fragments_foreign++;
    } else {
        oc_fragment_misfit(group, header->rank, group->config.rank, is_more);
    }
}

/* What it says of the network, even if it is here already. */
static void note_fragment(oc_cast_group_t *group, const oc_datagram_t *header, uint64_t now)
{
    oc_cast_operation_t *operation = group->active;
    oc_block_t *block = &operation->blocks[header->rank];

    block->patience = 0;
    operation->heard++;
    operation->in_vain = false;
    if (OC_DATAGRAM_REPAIR == header->kind) {
        oc_recast_note(operation, header->rank, header->index);
        block->missed = 0;
        oc_reception_again(group);
        return;
    }
    oc_chains_came(operation, header->rank, now);
    oc_alternate_heard(group, header->rank, now);
    if (block->complete) {
        oc_reception_late(group, header->rank);
    }
}

static void take_fragment(oc_cast_group_t *group, const oc_datagram_t *header,
                          const uint8_t *payload, uint64_t now)
{
    oc_cast_counters_t *counters = group->config.counters;
    const oc_cast_operation_t *active = group->active;
    const oc_block_t *block;
    bool is_repair;

    if (NULL == active || header->generation != active->generation) {
        if (0 != header->generation && oc_cast_reached(group->generation, header->generation)) {
            counters->fragments_late++;
        } else {
            counters->fragments_foreign++;
        }
        return;
    }
    block = &active->blocks[header->rank];
    if (header->rank == group->config.rank) {
        /* nor need this rank send it again */
        if (header->index < block->fragments) {
            oc_recast_note(group->active, header->rank, header->index);
        }
        return;
    }
    if (header->index >= block->fragments
        || header->length != oc_fragment_length(group, block, header->index)) {
        take_misfit(group, header,
                    header->index >= block->fragments
                        || header->length > oc_fragment_length(group, block, header->index));
        return;
    }
    note_fragment(group, header, now);
    is_repair = OC_DATAGRAM_REPAIR == header->kind;
    /* once its checksum was wrong, only what the owner answers is believed */
    if (0 != block->failures
        || !oc_fragment_place(group, header->rank, header->index, payload, now)) {
        counters->fragments_duplicated++;
    } else if (is_repair) {
        oc_repair_came(group, header->rank, header->index);
        counters->fragments_recovered++;
    } else {
        counters->fragments_received++;
    }
}

static uint64_t whole_generation(const oc_cast_group_t *group, const oc_datagram_t *header)
{
    return OC_DATAGRAM_PROBE == header->kind ? 0 : oc_cast_operations(group, header->generation);
}

void oc_cast_datagram(oc_cast_group_t *group, const oc_datagram_t *header, const uint8_t *bytes,
                      uint64_t now)
{
    if (OC_OK != group->status
        || (header->rank == group->config.rank && OC_DATAGRAM_REPAIR != header->kind)) {
        return; /* what this rank sent comes back on many networks */
    }
    if (header->rank >= group->config.num_ranks) {
        group->config.counters->fragments_foreign++;
        return;
    }
    if (!oc_cast_seal_fits_datagram(group->seal, whole_generation(group, header), header, bytes)) {
        group->config.counters->datagrams_forged++;
        return;
    }
    /* a repair may be from anybody */
    if (OC_DATAGRAM_REPAIR != header->kind) {
        oc_tree_heard(group, header->rank, now);
        oc_probe_heard(group, header->rank);
    }
    if (OC_DATAGRAM_PROBE != header->kind) {
        take_fragment(group, header, bytes + OC_DATAGRAM_HEADER, now);
    }
}

/* Messages about an operation count while it is active; what they are about is over otherwise. */
static void take_about_operation(oc_cast_group_t *group, const oc_cast_message_t *message,
                                 uint64_t now)
{
    if (NULL == group->active || message->generation != group->active->generation) {
        return;
    }
    switch (message->kind) {
    case OC_CAST_POLL:
        oc_poll_message(group, message);
        break;
    case OC_CAST_SENT:
        oc_poll_answered(group, message, now);
        break;
    case OC_CAST_REQUEST:
        oc_serve_request(group, message, now);
        break;
    case OC_CAST_WITHDRAW:
        oc_serve_withdrawn(group, message);
        break;
    case OC_CAST_CREDIT:
        oc_credit_message(group, message, now);
        break;
    default:
        oc_repair_message(group, message, now);
        break;
    }
}

static void take_turn(oc_cast_group_t *group, const oc_cast_message_t *message)
{
    if (oc_cast_reached(message->generation, group->turn)) {
        group->turn = message->generation;
    }
    if (NULL != group->active && OC_CAST_RUNNING == group->active->state
        && message->generation == group->active->generation) {
        group->active->turn = true;
    }
}

static void take_message(oc_cast_group_t *group, const oc_cast_message_t *message, bool fresh,
                         uint64_t now)
{
    switch (message->kind) {
    case OC_CAST_PROBE_REQUEST:
    case OC_CAST_PROBE_SENT:
        oc_probe_message(group, message, fresh);
        break;
    case OC_CAST_ENTER:
    case OC_CAST_GO:
    case OC_CAST_DONE:
    case OC_CAST_LEAVE:
        oc_tree_message(group, message, now);
        break;
    case OC_CAST_TURN:
        take_turn(group, message);
        break;
    case OC_CAST_PING:
        oc_cast_post_plain(group, message->rank, OC_CAST_PONG);
        break;
    case OC_CAST_PONG:
        break;
    case OC_CAST_UNICAST:
        oc_unicast_message(group, message);
        break;
    case OC_CAST_ABORT:
        oc_cast_aborted(group, message);
        break;
    case OC_CAST_FIND:
    case OC_CAST_FOUND:
        oc_cast_route_message(group, message);
        break;
    default:
        take_about_operation(group, message, now);
        break;
    }
}

/*
 * A rank that joined later than the group failed here has not heard of it: it is told when it
 * asks for something.
 */
static void answer_failed(oc_cast_group_t *group, const oc_cast_message_t *message)
{
    oc_cast_message_t answer = {.kind = OC_CAST_ABORT, .status = (int32_t) group->status,
                                .data = (const uint8_t *) group->reason,
                                .data_length = strnlen(group->reason, OC_CAST_MAX_TEXT)};

    if (OC_CAST_ABORT != message->kind) {
        oc_cast_post(group, message->rank, &answer);
    }
}

/*
 * Messages come in any order, and an old one may have been played back by somebody: it tells
 * nothing about whether its sender is alive.
 */
static bool is_fresh(oc_cast_group_t *group, const oc_cast_message_t *message)
{
    uint64_t *highest = &group->serials[message->rank];

    if (message->serial <= *highest) {
        return false;
    }
    *highest = message->serial;
    return true;
}

void oc_cast_message(oc_cast_group_t *group, const uint8_t *bytes, size_t length, uint64_t now)
{
    oc_cast_message_t message;
    bool fresh;

    if (!oc_cast_decode(bytes, length, &message) || message.token != group->config.token
        || message.rank >= group->config.num_ranks || message.rank == group->config.rank) {
        group->config.counters->fragments_foreign++;
        return;
    }
    if (!oc_cast_seal_fits_message(group->seal, oc_cast_era(group, &message), group->config.rank,
                              &message, bytes, length)) {
        group->config.counters->messages_forged++;
        return;
    }
    if (OC_OK != group->status) {
        answer_failed(group, &message);
        return;
    }
    fresh = is_fresh(group, &message);
    oc_cast_route_heard(group, message.rank);
    if (fresh) {
        oc_tree_heard(group, message.rank, now);
    }
    take_message(group, &message, fresh, now);
}

bool oc_cast_message_token(const uint8_t *bytes, size_t length, uint64_t *token)
{
    return oc_cast_decode_token(bytes, length, token);
}
