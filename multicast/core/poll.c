/* SPDX-License-Identifier: BSD-3-Clause */
/* Asks how much of a block has been sent, and answers others. */
#include "multicast/core/poll.h"

#include <assert.h>
#include <stdlib.h>
#include <utlist.h>

#include "multicast/core/chain.h"
#include "multicast/core/fragment.h"
#include "multicast/core/partners.h"
#include "multicast/core/post.h"
#include "multicast/core/reception.h"

#define MAX_SILENCE      OC_SECOND
/* Of what has ended nothing comes: only messages tell what others have sent. */
#define DRY_SILENCE      (3 * OC_MILLISECOND / 8)
/* Until the first fragment of an operation: not all ranks begin at once. */
#define FIRST_SILENCE    (OC_MILLISECOND / 2)
/* The time of so many fragments, at least and at most, and of each so much more. */
#define SILENT_FRAGMENTS 8u
#define MOST_SILENT      24u
#define SILENT_MORE      (OC_MILLISECOND / 32)

static uint32_t sent_of(const oc_cast_group_t *group, uint32_t owner)
{
    return owner == group->config.rank ? group->active->sent : group->active->blocks[owner].high;
}

static void tell(oc_cast_group_t *group, uint32_t rank, uint32_t owner)
{
    oc_cast_message_t answer = {
        .kind = OC_CAST_SENT,
        .generation = group->active->generation,
        .block = owner,
        .number = sent_of(group, owner),
    };

    oc_cast_post(group, rank, &answer);
}

/* One that was held; it is no more. */
static void answer(oc_cast_group_t *group, oc_cast_poll_t *poll)
{
    oc_cast_operation_t *operation = group->active;

    assert(operation->num_polls > 0 && operation->blocks[poll->owner].held > 0);
    tell(group, poll->rank, poll->owner);
    DL_DELETE(operation->polls, poll);
    operation->num_polls--;
    operation->blocks[poll->owner].held--;
    free(poll);
}

/* ---- asking ---- */

void oc_poll_begin(oc_cast_group_t *group)
{
    group->silent = SILENT_FRAGMENTS;
}

/* Whether more of a block is to come and nobody knows whether it was sent. */
static bool may_be_silent(const oc_cast_operation_t *operation, uint32_t owner)
{
    const oc_block_t *block = &operation->blocks[owner];

    return !block->complete && !block->polled && block->high < block->fragments
           && oc_chains_expects(operation, owner);
}

/*
 * Of silence: the time in which many fragments come, and that which some of the owner's should take by what
 * has arrived, and a little more each. How many, is learnt: what the kernel sends in one piece comes at once, and
 * then nothing for as long as the pieces of all others take, or for which a busy host has the owner wait. If
 * nothing has come from anybody, the pace is that of operations before. None of this is waited for where only
 * messages tell what was sent.
 */
static uint64_t cutoff_of(const oc_cast_group_t *group, uint32_t owner)
{
    const oc_cast_operation_t *operation = group->active;
    uint64_t pace = group->reorder / OC_CAST_REORDER_FRAGMENTS, silence = FIRST_SILENCE;

    if (operation->heard) {
        pace = oc_chains_pace(operation, owner);
        silence = group->reorder;
    }
    if (oc_reception_is_dry(group, owner)) {
        return DRY_SILENCE > 2 * pace ? DRY_SILENCE : 2 * pace;
    }
    silence += group->silent * (pace + SILENT_MORE);
    return silence < MAX_SILENCE ? silence : MAX_SILENCE;
}

static void poll_ask(oc_cast_group_t *group, uint32_t owner, uint64_t now)
{
    oc_block_t *block = &group->active->blocks[owner];
    oc_cast_message_t message = {
        .kind = OC_CAST_POLL,
        .generation = group->active->generation,
        .block = owner,
        .number = block->high,
    };
    uint32_t fetcher = oc_partners_fetcher(group, group->config.rank, owner);

    if (fetcher == group->config.rank) {
        fetcher = oc_partners_above(group, owner);
    }
    block->heard = now;
    block->polled = true;
    oc_cast_post(group, fetcher, &message);
}

/* Looks may be too far apart. */
static void poll_later(const oc_cast_group_t *group, uint32_t owner)
{
    oc_cast_operation_t *operation = group->active;
    uint64_t at = oc_chains_heard(operation, owner) + operation->blocks[owner].patience;

    if (at < operation->poll_at && oc_reception_is_dry(group, owner)) {
        operation->poll_at = at;
    }
}

void oc_poll_look(oc_cast_group_t *group, uint32_t owner, uint64_t now)
{
    oc_block_t *block = &group->active->blocks[owner];

    if (0 == block->patience) { /* first look since there was news */
        block->patience = cutoff_of(group, owner);
    }
    if (!may_be_silent(group->active, owner)) {
        return;
    }
    if (now - oc_chains_heard(group->active, owner) < block->patience) {
        poll_later(group, owner);
        return;
    }
    block->patience = 2 * block->patience < MAX_SILENCE ? 2 * block->patience : MAX_SILENCE;
    poll_ask(group, owner, now);
}

/* Whether the silence meant something. */
static void learn_silence(oc_cast_group_t *group, bool was_lost)
{
    if (was_lost) {
        group->silent = SILENT_FRAGMENTS;
    } else if (group->silent < MOST_SILENT) {
        group->silent++;
    }
}

/* For what was told just now, and may not come. */
static void look_soon(oc_cast_group_t *group, bool is_dry, uint64_t now)
{
    oc_cast_operation_t *operation = group->active;
    uint64_t at = now + OC_CAST_MIN_REORDER;

    if (is_dry) {
        operation->poll_at = now + DRY_SILENCE;
        operation->look_again = true;
    } else if (!operation->heard && at < operation->look_at) {
        operation->look_at = at; /* nothing of the operation has come in all this time */
    }
}

void oc_poll_answered(oc_cast_group_t *group, const oc_cast_message_t *message, uint64_t now)
{
    oc_cast_operation_t *operation = group->active;
    oc_cast_poll_t *poll, *next;
    oc_block_t *block;
    bool is_news, is_dry;

    if (message->block >= group->config.num_ranks || message->block == group->config.rank
        || message->number > operation->blocks[message->block].fragments) {
        group->config.counters->fragments_foreign++;
        return;
    }
    block = &operation->blocks[message->block];
    is_news = message->number > block->high;
    if (block->polled && !oc_reception_is_dry(group, message->block)) {
        learn_silence(group, is_news);
    }
    if (is_news) {
        block->patience = 0; /* it was well asked */
        oc_reception_told(block);
    }
    is_dry = oc_reception_is_dry(group, message->block);
    block->polled = false;
    oc_fragment_sent(group, message->block, message->number, now);
    if (0 == block->received || is_dry) {
        block->mark = block->high; /* nothing is here that could have overtaken them */
        block->told = true;
        if (is_news || is_dry) {
            look_soon(group, is_dry, now);
        }
    }
    if (0 == block->held) {
        return;
    }
    DL_FOREACH_SAFE (operation->polls, poll, next) {
        if (poll->owner == message->block) {
            answer(group, poll);
        }
    }
}

/* ---- answering ---- */

static oc_cast_poll_t *find(oc_cast_operation_t *operation, uint32_t rank, uint32_t owner)
{
    oc_cast_poll_t *poll;

    if (0 == operation->blocks[owner].held) {
        return NULL;
    }
    DL_FOREACH (operation->polls, poll) {
        if (poll->rank == rank && poll->owner == owner) {
            return poll;
        }
    }
    return NULL;
}

/* false: so many are held already, or there is no memory. */
static bool hold(const oc_cast_group_t *group, const oc_cast_message_t *message)
{
    oc_cast_operation_t *operation = group->active;
    oc_cast_poll_t *poll = find(operation, message->rank, message->block);

    if (NULL == poll) {
        poll = operation->num_polls < group->config.num_ranks ? calloc(1, sizeof(*poll)) : NULL;
        if (NULL == poll) {
            return false;
        }
        poll->rank = message->rank;
        poll->owner = message->block;
        DL_APPEND(operation->polls, poll);
        operation->num_polls++;
        operation->blocks[poll->owner].held++;
    }
    poll->known = message->number;
    return true;
}

void oc_poll_message(oc_cast_group_t *group, const oc_cast_message_t *message)
{
    uint32_t owner = message->block;

    if (owner >= group->config.num_ranks || owner == message->rank) {
        group->config.counters->fragments_foreign++;
        return;
    }
    if (owner == group->config.rank || group->active->blocks[owner].complete
        || sent_of(group, owner) > message->number || !hold(group, message)) {
        tell(group, message->rank, owner);
    }
}

void oc_poll_progress(oc_cast_group_t *group)
{
    oc_cast_operation_t *operation = group->active;
    oc_cast_poll_t *poll, *next;

    if (!operation->poll_news) {
        return;
    }
    operation->poll_news = false;
    DL_FOREACH_SAFE (operation->polls, poll, next) {
        if (sent_of(group, poll->owner) > poll->known) {
            answer(group, poll);
        }
    }
}
