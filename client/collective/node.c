/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Collectives in the node shape. Each chunk is a step of the stream that the ranks of a host go
 * through together (node/ring.h): all give it, its owner reduces what they gave by rank and
 * sends that for the host, the result comes to the owner's place, and all take it from there. A
 * small vector is one step.
 *
 * A COMMIT says that the owners of a team have its results, on all hosts. Whoever returns from a
 * large vector must know that of all teams, so it waits until all ranks of its host have their
 * COMMITs: each tells how many of the group's collectives, in their order, it needs none for any
 * more.
 *
 * An owner tells a server that a collective begins when it has the first step from all ranks of
 * the host: so a server may still count on it that whoever began will send (see the server's memory
 * in doc/architecture.md), and ranks of a host may begin nonblocking collectives of several
 * communicators in any order.
 */
#include "client/collective/node.h"

#include <utlist.h>

#include "base/text.h"
#include "client/collective/collective.h"
#include "client/collective/large.h"
#include "client/collective/small.h"
#include "client/collective/step.h"
#include "client/collective/vector.h"
#include "client/state/collapse.h"
#include "reduction/reduction.h"

static bool is_small(const oc_collective_t *collective)
{
    return collective->bytes <= (size_t) collective->group->client->config.settings->small_size;
}

/* NULL: no collective that has begun here has this step. */
static oc_collective_t *find(const oc_group_t *group, uint64_t step)
{
    oc_collective_t *collective;

    DL_FOREACH (group->running, collective) {
        if (collective->holds && step - collective->first_step < collective->num_steps) {
            return collective;
        }
    }
    return NULL;
}

/* What the ranks of a host have to agree about, beside the servers' own checks. */
static uint64_t what_of(const oc_collective_t *collective, uint32_t step)
{
    uint64_t numbers[] = {collective->sequence, collective->args.op, collective->args.type,
                          collective->args.count, step};

    return oc_hash(OC_HASH_START, numbers, sizeof(numbers));
}

/* Bytes of the caller's vector. */
static size_t own_bytes(const oc_collective_t *collective, const oc_step_piece_t *piece)
{
    return piece->count * oc_type_size(collective->args.type);
}

/* Elements of a device that are not as they travel. false: as read_in. */
static bool widen_staged(oc_collective_t *collective, void *to, const oc_step_piece_t *piece)
{
    oc_stock_t *stock = &collective->group->client->stock;
    size_t length = own_bytes(collective, piece);
    void *elements = oc_stock_take(stock, length);
    bool read;

    if (NULL == elements) {
        oc_client_collapse(collective->group->client, OC_ERR_NO_MEMORY, "out of memory");
        return false;
    }
    read = oc_vector_read(collective, piece->offset, length, elements);
    if (read) {
        oc_convert(oc_widen_kernel(collective->args.type), to, elements, piece->count);
    }
    oc_stock_give(stock, elements, length);
    return read;
}

/* false: nothing can be sent, and all service is being given up. */
static bool read_in(oc_collective_t *collective, void *to, const oc_step_piece_t *piece)
{
    if (!collective->wide) {
        return oc_vector_read(collective, piece->offset, own_bytes(collective, piece), to);
    }
    if (NULL != collective->vector.send_device) {
        return widen_staged(collective, to, piece);
    }
    oc_convert(oc_widen_kernel(collective->args.type), to,
               (const char *) collective->send + piece->offset, piece->count);
    return true;
}

/*
 * The next step after one that was read: those of others are read in order, own ones later, in
 * order too.
 */
static bool will_be_read(const oc_collective_t *collective, uint32_t step)
{
    const oc_node_t *node = collective->group->node;

    return oc_step_owner(collective, step) == node->self
           || collective->first_step + step >= oc_ring_given(node->ring);
}

/* Of the caller's vector, as it travels. As read_in. */
static bool copy_in(oc_collective_t *collective, void *to, uint32_t step)
{
    oc_step_piece_t piece = oc_step_piece(collective, step), next;

    if (!read_in(collective, to, &piece)) {
        return false;
    }
    if (step + 1 < collective->num_steps && will_be_read(collective, step + 1)) {
        next = oc_step_piece(collective, step + 1);
        oc_vector_read_ahead(collective, next.offset, own_bytes(collective, &next));
    }
    collective->group->client->config.counters->bytes_copied += oc_step_bytes(collective, &piece);
    return true;
}

static void narrow_staged(oc_collective_t *collective, const void *from,
                          const oc_step_piece_t *piece)
{
    oc_stock_t *stock = &collective->group->client->stock;
    size_t length = own_bytes(collective, piece);
    void *elements = oc_stock_take(stock, length);

    if (NULL == elements) {
        oc_client_collapse(collective->group->client, OC_ERR_NO_MEMORY, "out of memory");
        return;
    }
    oc_convert(oc_narrow_kernel(collective->args.type), elements, from, piece->count);
    oc_vector_write(collective, piece->offset, length, elements);
    oc_stock_give(stock, elements, length);
}

static void copy_out(oc_collective_t *collective, const void *from, const oc_step_piece_t *piece)
{
    if (!collective->wide) {
        oc_vector_write(collective, piece->offset, own_bytes(collective, piece), from);
    } else if (NULL != collective->vector.recv_device) {
        narrow_staged(collective, from, piece);
    } else {
        oc_convert(oc_narrow_kernel(collective->args.type),
                   (char *) collective->recv + piece->offset, from, piece->count);
    }
    collective->group->client->config.counters->bytes_copied += oc_step_bytes(collective, piece);
}

static bool give_next(oc_group_t *group)
{
    oc_node_t *node = group->node;
    uint64_t at = oc_ring_given(node->ring);
    oc_collective_t *collective = find(group, at);
    uint32_t step, owner;
    oc_step_piece_t piece;

    if (NULL == collective || !oc_ring_has_room(node->ring)) {
        return false;
    }
    step = (uint32_t) (at - collective->first_step);
    owner = oc_step_owner(collective, step);
    if (owner != node->self) {
        piece = oc_step_piece(collective, step);
        if (!copy_in(collective, oc_step_place(collective, node->self, step), step)) {
            return true;
        }
        group->client->config.counters->bytes_node += oc_step_bytes(collective, &piece);
    }
    oc_ring_give(node->ring, what_of(collective, step), owner);
    return true;
}

/* Own data is read where the caller has it, unless it has to be made wide, or fetched, first. */
static bool reduce(oc_collective_t *collective, uint32_t step, void *to)
{
    oc_node_t *node = collective->group->node;
    oc_step_piece_t piece = oc_step_piece(collective, step);
    bool copied = collective->wide || NULL != collective->vector.send_device;

    for (uint32_t i = 0; i < node->num_members; i++) {
        node->sources[i] = oc_step_place(collective, i, step);
    }
    node->sources[node->self] = (const char *) collective->send + piece.offset;
    if (copied) {
        if (!copy_in(collective, to, step)) {
            return false;
        }
        node->sources[node->self] = to;
    }
    oc_reduce(oc_reduce_kernel(collective->args.op, collective->type), to, node->sources,
              node->num_members, piece.count);
    if (1 == node->num_members && !copied) {
        collective->group->client->config.counters->bytes_copied +=
            oc_step_bytes(collective, &piece);
    }
    return true;
}

static void send_small(oc_collective_t *collective)
{
    void *contribution = oc_small_prepare(collective);

    if (NULL == contribution) {
        oc_client_collapse(collective->group->client, OC_ERR_NO_MEMORY, "out of memory");
        return;
    }
    if (reduce(collective, 0, contribution)) {
        oc_small_send(collective);
    }
}

static void send_chunk(oc_collective_t *collective, uint32_t step)
{
    if (!oc_step_is_direct(collective)
        && !reduce(collective, step, oc_step_result(collective, step))) {
        return;
    }
    oc_large_send(collective, step);
}

static bool has_gathered(oc_group_t *group, uint64_t at)
{
    uint32_t member = 0;

    switch (oc_ring_has_gathered(group->node->ring, at, &member)) {
    case OC_OK:
        return true;
    case OC_IN_PROGRESS:
        return false;
    default:
        oc_client_collapse(group->client, OC_ERR_MISMATCH,
                           "ranks disagree about a collective: rank %u does something else than "
                           "rank %u", group->node->ranks[member], group->params.rank);
        return false;
    }
}

static bool send_next(oc_group_t *group)
{
    oc_node_t *node = group->node;
    oc_collective_t *collective;
    uint32_t step;

    if (node->handled == oc_ring_given(node->ring)) {
        return false;
    }
    collective = find(group, node->handled);
    step = (uint32_t) (node->handled - collective->first_step);
    if (oc_step_owner(collective, step) == node->self) {
        if (!has_gathered(group, node->handled)
            || (!is_small(collective) && !oc_large_has_slot(collective, step))) {
            return false;
        }
        if (is_small(collective)) {
            send_small(collective);
        } else {
            send_chunk(collective, step);
        }
    }
    node->handled++;
    return true;
}

static void let_go(oc_collective_t *collective)
{
    collective->holds = false;
    collective->group->node->holding--;
    if (0 == --collective->waiting) {
        oc_collective_finish(collective, collective->status);
    }
}

static bool take_next(oc_group_t *group)
{
    oc_node_t *node = group->node;
    uint64_t at = oc_ring_taken(node->ring);
    oc_collective_t *collective;
    uint32_t step, owner;
    oc_step_piece_t piece;

    if (at == node->handled) {
        return false;
    }
    collective = find(group, at);
    step = (uint32_t) (at - collective->first_step);
    owner = oc_step_owner(collective, step);
    if (!oc_ring_is_published(node->ring, owner, at)) {
        return false;
    }
    if (!oc_step_is_direct(collective)) {
        piece = oc_step_piece(collective, step);
        copy_out(collective, oc_step_place(collective, owner, step), &piece);
        if (owner != node->self) {
            group->client->config.counters->bytes_node += oc_step_bytes(collective, &piece);
        }
    }
    oc_ring_take(node->ring, owner);
    if (step + 1 == collective->num_steps) {
        if (is_small(collective)) {
            let_go(collective);
        } else {
            node->settling++;
        }
    }
    return true;
}

/* Large ones that have all results end when all ranks of the host have committed them. */
static bool settle(oc_group_t *group)
{
    oc_node_t *node = group->node;
    oc_collective_t *collective, *next;
    unsigned before = node->settling;
    uint64_t committed;

    if (0 == before) {
        return false;
    }
    committed = oc_ring_committed(node->ring);
    DL_FOREACH_SAFE (group->running, collective, next) {
        if (collective->holds && collective->sequence < committed
            && collective->first_step + collective->num_steps <= oc_ring_taken(node->ring)) {
            node->settling--;
            let_go(collective);
        }
    }
    return node->settling < before;
}

static void look_for_failure(oc_group_t *group)
{
    char text[OC_RING_TEXT_SIZE];
    uint32_t member;

    if (oc_ring_has_failed(group->node->ring, &member, text)) {
        oc_client_collapse(group->client, OC_ERR_UNREACHABLE, "%s", text);
    }
}

/* Rings that nobody hears would use up what those who ring have to send with. */
static void disarm(oc_group_t *group)
{
    group->node->armed = false;
    oc_ring_disarm(group->node->ring);
    if (NULL == group->client->nodes) {
        (void) oc_doorbell_listen(group->client->bell);
    }
}

static void leave_list(oc_group_t *group)
{
    if (group->node->active) {
        group->node->active = false;
        DL_DELETE2(group->client->nodes, group, node_prev, node_next);
    }
    if (group->node->armed) {
        disarm(group);
    }
}

/* One of each: what the network brings is looked at in between. */
static bool progress(oc_group_t *group)
{
    oc_node_t *node = group->node;
    bool given, sent, taken, settled;

    look_for_failure(group);
    if (OC_OK != group->client->collapse) {
        return true;
    }
    given = give_next(group);
    sent = send_next(group);
    taken = take_next(group);
    settled = settle(group);
    if (0 == node->holding) {
        leave_list(group);
    }
    return given || sent || taken || settled;
}

bool oc_client_nodes_progress(oc_client_t *client)
{
    oc_group_t *group, *next;
    bool moved = false;

    DL_FOREACH_SAFE2 (client->nodes, group, next, node_next) {
        moved = progress(group) || moved;
    }
    return moved;
}

void oc_client_nodes_arm(oc_client_t *client)
{
    oc_group_t *group;

    DL_FOREACH2 (client->nodes, group, node_next) {
        group->node->armed = true;
        oc_ring_arm(group->node->ring);
    }
}

void oc_node_fail(oc_group_t *group, const char *reason)
{
    oc_collective_t *collective, *next;

    if (NULL == group->node || NULL == group->node->ring) {
        return;
    }
    oc_ring_fail(group->node->ring, reason);
    leave_list(group);
    DL_FOREACH_SAFE (group->running, collective, next) {
        if (collective->holds) {
            let_go(collective);
        }
    }
}
