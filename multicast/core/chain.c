/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Who sends when. Chains of ranks send at the same time; in a chain one rank after the other, each
 * when the one before says so. With as many chains as ranks all send at once. Unless their number
 * is given, there are that many as long as each has enough of the window, and fewer otherwise.
 *
 * Chains keep in step without a word: what a rank receives from the others tells how fast its own
 * link is drained, and all links carry the same. A rank is never more than a window ahead of the
 * slowest chain that moves, measured in parts of what each chain has to send; so all of them
 * end together, whatever the sizes of their blocks, and no queue holds more than the window. A
 * chain that has been silent for a while is not waited for: its datagrams may all be lost here.
 * Where only some send at a time, others receive more than these, who do not notice; so all say how
 * far they are (credit.c). After losses the window is smaller for a while (backoff.h).
 */
#include "multicast/core/chain.h"

#include <assert.h>
#include <stdlib.h>

#include "multicast/core/backoff.h"
#include "multicast/core/pace.h"

/* Fragments that a chain may be ahead: with less it costs more than it keeps in step. */
#define MIN_AHEAD  3u
#define GOOD_AHEAD 16u

/* A block of so many times what a rank may be ahead keeps others in step. */
#define STEADY 8u

/* Queues have room for a window, and for this part of one beyond it. */
#define EXCESS 8u

/*
 * If all send at once, they use this part of the window. It keeps links full, and as twice of it is
 * under way to a rank that falls behind (below), what else is on its link has its share of that.
 */
#define TOGETHER_PART 3u

/*
 * If not, all but this part: a connection of TCP, which has half of it under way, then has its
 * share.
 */
#define CHAIN_SPARE 8u

/* The part of what ranks keep that is left to repairs and probes. */
#define RESERVE 8u

/*
 * Fragments that each of so many may be ahead. What is under way to a rank that stands still is
 * twice the window if all send at once: it has sent a share more than it has looked at, and the
 * others a share more than that.
 */
static uint32_t share_of_window(const oc_cast_group_t *group, uint32_t others, bool together)
{
    uint64_t fragments = group->config.window / group->payload;
    uint64_t kept = group->config.staging - group->config.staging / RESERVE;

    kept = together ? kept / 2 : kept;
    fragments = 0 != group->config.staging && kept < fragments ? kept : fragments;
    fragments /= others > 0 ? others : 1;
    return fragments < UINT32_MAX / 2 ? (uint32_t) fragments : UINT32_MAX / 2;
}

/*
 * Whether a rank that sends little would receive more than its link carries, if all sent at once:
 * those that send keep in step with what they receive, which lacks their own block, and its own
 * block is smaller. Blocks that are not much larger than what a rank may be ahead keep nobody in
 * step.
 */
static bool would_overflow(const oc_cast_group_t *group, const oc_cast_operation_t *operation)
{
    uint32_t steady = STEADY * share_of_window(group, group->config.num_ranks - 1, true);
    uint32_t least = UINT32_MAX, most = 0, least_steady = UINT32_MAX;

    for (uint32_t rank = 0; rank < group->config.num_ranks; rank++) {
        uint32_t fragments = operation->blocks[rank].fragments;

        least = fragments < least ? fragments : least;
        most = fragments > most ? fragments : most;
        if (fragments >= steady && fragments < least_steady) {
            least_steady = fragments;
        }
    }
    return (least_steady < most ? least_steady : most) - least > share_of_window(group, EXCESS, true);
}

static uint32_t choose_number(const oc_cast_group_t *group, const oc_cast_operation_t *operation)
{
    uint32_t chains = group->config.chains, ranks = group->config.num_ranks;

    if (0 == chains && would_overflow(group, operation)) {
        return 1;
    }
    if (0 == chains && share_of_window(group, ranks - 1, true) >= MIN_AHEAD) {
        return ranks;
    }
    if (0 == chains) {
        chains = 1 + share_of_window(group, GOOD_AHEAD, false);
    }
    if (chains < ranks && chains > OC_CAST_MAX_CHAINS) {
        chains = OC_CAST_MAX_CHAINS;
    }
    return chains < ranks ? chains : ranks;
}

/* Whoever sends itself receives from all chains but one. */
static uint32_t choose_ahead(const oc_cast_group_t *group, const oc_cast_operation_t *operation)
{
    uint32_t ranks = group->config.num_ranks, others = operation->senders;
    bool together = operation->num_chains == ranks;
    uint32_t ahead, enough;

    others -= operation->senders == ranks;
    ahead = share_of_window(group, others, together);
    enough = share_of_window(group, TOGETHER_PART * others, false);
    if (!together) {
        ahead -= ahead / CHAIN_SPARE;
    } else if (enough < ahead) {
        ahead = enough;
    }
    return ahead > MIN_AHEAD ? ahead : MIN_AHEAD;
}

/* The rank before in its chain whose block is not empty; itself: there is none. */
static uint32_t rank_before(const oc_cast_operation_t *operation, uint32_t first_rank, uint32_t rank)
{
    uint32_t last = rank - 1;

    if (rank == first_rank) {
        return rank;
    }
    if (operation->blocks[last].fragments > 0) {
        return last;
    }
    return operation->blocks[last].before == last ? rank : operation->blocks[last].before;
}

static void add_to_chain(oc_cast_operation_t *operation, uint32_t number, uint32_t rank)
{
    oc_chain_t *chain = &operation->chains[number];
    oc_block_t *block = &operation->blocks[rank];

    block->chain = number;
    block->start = chain->fragments;
    block->before = rank_before(operation, chain->first_rank, rank);
    chain->fragments += block->fragments;
}

/* On to the first block that is not known to be sent. */
static void await_next(const oc_cast_operation_t *operation, oc_chain_t *chain)
{
    while (chain->awaited < chain->end_rank
           && operation->blocks[chain->awaited].high == operation->blocks[chain->awaited].fragments) {
        chain->awaited++;
    }
}

/*
 * Together each is a share ahead, and the others are so in turn; credit comes in steps of half of
 * what a chain may be ahead, so that on average there is a quarter less under way.
 */
static double choose_most(const oc_cast_operation_t *operation)
{
    double all = (double) operation->ahead * operation->senders;

    return operation->together ? 2 * all : 0.75 * all;
}

static bool may_hold_back(const oc_cast_operation_t *operation)
{
    if (operation->together && operation->ahead <= MIN_AHEAD) {
        return false; /* it cannot be less */
    }
    for (uint32_t k = 0; k < operation->num_chains; k++) {
        if (operation->chains[k].fragments > operation->ahead) {
            return true;
        }
    }
    return false;
}

oc_status_t oc_chains_make(oc_cast_group_t *group, oc_cast_operation_t *operation)
{
    uint32_t ranks = group->config.num_ranks, count = choose_number(group, operation);

    assert(count > 0 && count <= ranks);
    operation->chains = calloc(count, sizeof(*operation->chains));
    if (NULL == operation->chains) {
        return OC_ERR_NO_MEMORY;
    }
    operation->num_chains = count;
    operation->together = count == ranks && count > 1;
    for (uint32_t k = 0; k < count; k++) {
        oc_chain_t *chain = &operation->chains[k];

        chain->first_rank = (uint32_t) ((uint64_t) k * ranks / count);
        chain->end_rank = (uint32_t) ((uint64_t) (k + 1) * ranks / count);
        for (uint32_t rank = chain->first_rank; rank < chain->end_rank; rank++) {
            add_to_chain(operation, k, rank);
        }
        chain->awaited = chain->first_rank;
        await_next(operation, chain);
        operation->senders += chain->fragments > 0;
        operation->fragments += chain->fragments;
        operation->coming += chain->fragments;
    }
    operation->ahead = choose_ahead(group, operation);
    operation->most = choose_most(operation);
    operation->holds_back = may_hold_back(operation);
    operation->part = operation->part_told = OC_CAST_WHOLE;
    return OC_OK;
}

void oc_chains_sent(oc_cast_operation_t *operation, uint32_t rank, uint32_t count, uint64_t now)
{
    oc_block_t *block = &operation->blocks[rank];
    oc_chain_t *chain = &operation->chains[block->chain];

    assert(count > block->high && count <= block->fragments && block->chain < operation->num_chains);
    chain->position += count - block->high;
    operation->coming -= count - block->high;
    chain->heard = now;
    block->high = count;
    await_next(operation, chain);
}

void oc_chains_came(oc_cast_operation_t *operation, uint32_t rank, uint64_t now)
{
    oc_block_t *block = &operation->blocks[rank];
    oc_chain_t *chain = &operation->chains[block->chain];

    block->came++;
    chain->came++;
    operation->cast++;
    operation->cast_at = now;
    oc_pace_came(operation, now);
}

uint64_t oc_chains_pace(const oc_cast_operation_t *operation, uint32_t rank)
{
    const oc_chain_t *chain = &operation->chains[operation->blocks[rank].chain];
    /* while this rank sends in turn nothing comes, and no time passes here */
    uint64_t cast = operation->cast - (operation->together ? 0 : operation->sent);
    uint64_t part = (uint64_t) ((double) cast * (double) chain->fragments
                                / (double) operation->fragments);

    return operation->pace.time / ((chain->came > part ? chain->came : part) + 1);
}

/* All others are silent: either nothing gets through, or they wait for this rank. */
static uint64_t alone(oc_cast_operation_t *operation, uint64_t now)
{
    if (now >= operation->grace_until) {
        operation->grace = operation->sent + operation->ahead;
        operation->grace_until = now + OC_CAST_STALL;
    }
    return operation->grace;
}

bool oc_chains_need_credit(const oc_cast_group_t *group)
{
    return !group->active->together && group->active->holds_back;
}

/*
 * Where others' data leave by the same queue, a rank gets as much of its link as it has of that queue. While the
 * process has other operations under way, it adds what is needed there for its part of the link: where all send
 * together its block is one of many, as are the parts of a vector that goes to aggregators; in turn it is all that
 * moves.
 */
static uint32_t ahead_beside(const oc_cast_group_t *group)
{
    const oc_cast_operation_t *operation = group->active;
    const oc_cast_net_t *net = &group->config.net;
    size_t beside = net->queued(net->context) * net->connections(net->context);
    uint32_t others = operation->together ? operation->senders - 1 : 1;
    double part = (double) operation->part / OC_CAST_WHOLE;

    if (0 == beside || 0 == others) {
        return 0;
    }
    part = group->backoff < part ? group->backoff : part;
    return (uint32_t) ((double) (beside / others / group->payload) * part);
}

/* All chains together are no farther ahead than the whole window, and what ranks keep, let them be. */
static uint32_t ahead_now(const oc_cast_group_t *group)
{
    const oc_cast_operation_t *operation = group->active;
    uint32_t others = operation->senders - (operation->senders == group->config.num_ranks);
    uint32_t ahead = oc_backoff_ahead(group), beside = ahead_beside(group), most;

    if (0 == beside) {
        return ahead;
    }
    most = share_of_window(group, others, operation->together);
    most = most > ahead ? most - ahead : 0;
    return ahead + (beside < most ? beside : most);
}

uint32_t oc_chains_limit(oc_cast_group_t *group, uint64_t now)
{
    oc_cast_operation_t *operation = group->active;
    const oc_block_t *own_block = &operation->blocks[group->config.rank];
    const oc_chain_t *own = &operation->chains[own_block->chain];
    uint64_t base = own_block->start, limit = base + own_block->fragments;
    uint32_t ahead = ahead_now(group);
    unsigned moving = 0, stalled = 0;

    for (uint32_t k = 0; k < operation->num_chains; k++) {
        const oc_chain_t *other = &operation->chains[k];
        uint64_t allowed;

        if (other == own || other->position >= other->fragments) {
            continue;
        }
        if (now - other->heard > OC_CAST_STALL) {
            stalled++;
            continue;
        }
        moving++;
        allowed = (uint64_t) ((double) other->position / (double) other->fragments
                              * (double) own->fragments)
                  + ahead;
        limit = allowed < limit ? allowed : limit;
    }
    if (oc_chains_need_credit(group)) {
        if (now - own->credited > OC_CAST_STALL) {
            stalled++;
        } else if (own->credit + ahead < limit) {
            limit = own->credit + ahead;
        }
    }
    if (0 == moving && stalled > 0 && base + alone(operation, now) < limit) {
        limit = base + operation->grace;
    }
    assert(limit <= base + own_block->fragments);
    return limit > base ? (uint32_t) (limit - base) : 0;
}

bool oc_chains_nears_end(const oc_cast_group_t *group)
{
    const oc_cast_operation_t *operation = group->active;

    return operation->sent + operation->ahead >= operation->blocks[group->config.rank].fragments;
}

uint32_t oc_chains_next(const oc_cast_group_t *group)
{
    const oc_cast_operation_t *operation = group->active;
    uint32_t own = group->config.rank;
    const oc_chain_t *chain = &operation->chains[operation->blocks[own].chain];

    assert(chain->first_rank <= own && own < chain->end_rank);
    for (uint32_t rank = own + 1; rank < chain->end_rank; rank++) {
        if (operation->blocks[rank].fragments > 0) {
            return rank;
        }
    }
    return group->config.num_ranks;
}

bool oc_chains_heads(const oc_cast_operation_t *operation, uint32_t rank)
{
    return operation->blocks[rank].before == rank;
}

bool oc_chains_expects(const oc_cast_operation_t *operation, uint32_t rank)
{
    return operation->chains[operation->blocks[rank].chain].awaited >= rank;
}

uint64_t oc_chains_heard(const oc_cast_operation_t *operation, uint32_t rank)
{
    const oc_block_t *block = &operation->blocks[rank];
    uint64_t ended = operation->blocks[block->before].ended;

    return 0 == block->received && block->before != rank && ended > block->heard ? ended
                                                                                  : block->heard;
}
