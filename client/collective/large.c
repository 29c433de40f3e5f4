/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Large Allreduces: chunks from and into user memory, between START, SENT, ACK and COMMIT on every
 * lane.
 * Which chunks those are is in parts.c, and which of them may be under way, in flow.c.
 */
#include "client/collective/large.h"

#include "client/collective/collective.h"
#include "client/collective/flow.h"
#include "client/collective/leftovers.h"
#include "client/collective/parts.h"
#include "client/collective/reply.h"
#include "client/collective/step.h"
#include "client/collective/vector.h"
#include "client/state/codes.h"
#include "protocol/tag.h"

static void send_header(oc_part_t *part, oc_part_transfer_t *transfer, uint8_t *bytes,
                        uint8_t message)
{
    oc_collective_t *collective = part->collective;
    const oc_group_t *group = collective->group;
    oc_header_t header = {
        .message = message, .op = (uint8_t) collective->args.op,
        .type = (uint8_t) collective->type, .handle = part->lane->handle,
        .rank = group->teams.rank, .chunk_bytes = collective->chunk_bytes,
        .last_bytes = part->last_bytes, .chunks = part->chunks,
        .sequence = collective->sequence, .count = collective->args.count};

    oc_collective_seal(collective, part->lane, &header, bytes, OC_HEADER_SIZE);
    collective->waiting++;
    group->client->config.counters->messages_sent++;
    oc_send(part->lane->route->endpoint, &transfer->transfer, bytes, OC_HEADER_SIZE,
            oc_tag(OC_KIND_REQUEST, part->lane->handle, group->teams.rank,
                   collective->sequence, 0));
}

/*
 * Done when every lane has committed, in the node shape those of all ranks of the host, and UCX has
 * let go of everything.
 */
static void finish_if_done(oc_collective_t *collective)
{
    if (0 == collective->waiting && 0 == collective->uncommitted) {
        oc_collective_finish(collective, collective->status);
    }
}

static void on_header_sent(oc_transfer_t *transfer)
{
    oc_part_t *part = ((oc_part_transfer_t *) transfer)->part;

    if (oc_collective_called_back(part->collective, transfer, part->lane)) {
        finish_if_done(part->collective);
    }
}

/* A reply with header in bytes; what is not genuine is waited for again. */
static void receive_reply(oc_part_t *part, oc_part_transfer_t *transfer, uint8_t *bytes,
                          uint64_t slot)
{
    oc_collective_t *collective = part->collective;

    collective->waiting++;
    oc_receive(collective->group->client->worker, &transfer->transfer, bytes, OC_HEADER_SIZE,
               oc_tag(OC_KIND_REPLY, collective->group->reply_handle, part->lane->index,
                      collective->sequence, slot), OC_TAG_EXACT);
}

static void on_commit(oc_transfer_t *transfer)
{
    oc_part_t *part = ((oc_part_transfer_t *) transfer)->part;
    oc_collective_t *collective = part->collective;

    if (oc_collective_is_forged(collective, part->lane, transfer, part->commit_bytes)) {
        collective->waiting--;
        receive_reply(part, &part->commit, part->commit_bytes, OC_COMMIT_SLOT);
        return;
    }
    if (!oc_collective_called_back(collective, transfer, part->lane)) {
        return;
    }
    if (oc_collective_check_reply(collective, part->lane, part->commit_bytes, transfer->length,
                                  OC_MESSAGE_COMMIT)
        && 0 == --collective->uncommitted && NULL != collective->group->node) {
        oc_steps_commit(collective);
    }
    finish_if_done(collective);
}

/* What the aggregator has sent is here. Others may end when this rank says that it has that. */
static void on_sent(oc_transfer_t *transfer)
{
    oc_part_t *part = ((oc_part_transfer_t *) transfer)->part;
    oc_collective_t *collective = part->collective;

    if (oc_collective_is_forged(collective, part->lane, transfer, part->sent_bytes)) {
        collective->waiting--;
        receive_reply(part, &part->news, part->sent_bytes, OC_SENT_SLOT);
        return;
    }
    if (!oc_collective_called_back(collective, transfer, part->lane)) {
        return;
    }
    if (oc_collective_check_reply(collective, part->lane, part->sent_bytes, transfer->length,
                                  OC_MESSAGE_SENT)
        && oc_part_is_clean(part)) {
        part->acknowledged = true;
        receive_reply(part, &part->commit, part->commit_bytes, OC_COMMIT_SLOT);
        send_header(part, &part->ack, part->ack_bytes, OC_MESSAGE_ACK);
    }
    finish_if_done(collective);
}

/*
 * All results of this lane are here: when the aggregator's SENT says that these were its own, they
 * are acknowledged, and a COMMIT says that all other ranks have theirs.
 */
static void on_received_all(oc_part_t *part)
{
    receive_reply(part, &part->news, part->sent_bytes, OC_SENT_SLOT);
}

static void prepare(oc_collective_t *collective)
{
    for (unsigned i = 0; i < collective->num_parts; i++) {
        oc_part_t *part = &collective->parts[i];

        part->start.transfer.done = part->ack.transfer.done = on_header_sent;
        part->news.transfer.done = on_sent;
        part->commit.transfer.done = on_commit;
        part->received_all = on_received_all;
        part->start.part = part->ack.part = part->news.part = part->commit.part = part;
    }
    oc_flow_prepare(collective);
}

static void part_start(oc_part_t *part)
{
    send_header(part, &part->start, part->start_bytes, OC_MESSAGE_START);
}

static bool uses_rdma(const oc_collective_t *collective)
{
    for (unsigned i = 0; i < collective->num_parts; i++) {
        if (oc_endpoint_is_rdma(collective->parts[i].lane->route->endpoint)) {
            return true;
        }
    }
    return false;
}

/*
 * Memory that its host shares is always the same, and cut in the same way; what goes by way of the
 * arena is anywhere in it.
 */
static void map_vectors(oc_collective_t *collective)
{
    const oc_group_t *group = collective->group;
    const oc_vector_t *vector = &collective->vector;
    oc_worker_t *worker = group->client->worker;
    size_t length;
    void *memory;

    if ((NULL != group->node && !oc_step_is_direct(collective)) || !uses_rdma(collective)) {
        return;
    }
    if (NULL == vector->recv_device) {
        collective->mappings[0] = oc_map(worker, collective->recv, collective->bytes);
    }
    if (NULL == vector->send_device && collective->send != collective->recv) {
        collective->mappings[1] = oc_map(worker, collective->send, collective->bytes);
    }
    if (oc_vector_is_staged(collective)) {
        memory = oc_arena_bytes(group->client->arena, &length);
        collective->mappings[2] = oc_map(worker, memory, length);
    }
}

void oc_large_end(oc_collective_t *collective)
{
    oc_flow_end(collective);
    for (unsigned i = 0; i < sizeof(collective->mappings) / sizeof(collective->mappings[0]); i++) {
        oc_unmap(collective->group->client->worker, collective->mappings[i]);
        collective->mappings[i] = NULL;
    }
}

bool oc_large_has_slot(const oc_collective_t *collective, uint32_t chunk)
{
    const oc_part_t *part = oc_parts_find(collective, chunk);

    return NULL != part && oc_flow_has_slot(part);
}

void oc_large_send(oc_collective_t *collective, uint32_t chunk)
{
    oc_part_t *part = oc_parts_find(collective, chunk);

    if (0 == part->sent) {
        part_start(part);
    }
    oc_flow_send(part, oc_step_contribution(collective, chunk),
                 oc_step_result(collective, chunk));
}

oc_status_t oc_large_start(oc_collective_t *collective)
{
    oc_status_t status = oc_parts_make(collective);

    if (OC_OK != status) {
        return status;
    }
    prepare(collective);
    if (NULL != collective->group->node) {
        map_vectors(collective);
        oc_steps_join(collective, (uint32_t) oc_parts_count_chunks(collective));
        if (0 == collective->num_parts) {
            oc_steps_commit(collective);
        }
        return OC_OK;
    }
    for (unsigned i = 0; i < collective->num_parts; i++) {
        part_start(&collective->parts[i]);
    }
    /* servers need not wait for this, which takes its time with much memory */
    map_vectors(collective);
    oc_flow_open(collective);
    return OC_OK;
}
