/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Whom to ask for what is missing. What a whole host has missed has to cross its link again, but
 * only once: for each block one rank of a host asks other hosts, its fetcher, and the others ask
 * the fetcher, which gives them what it has as it gets it. Blocks have different fetchers, so that
 * a host's ranks share the work. The owner of a block is its fetcher on its own host.
 *
 * The fetcher itself asks one of its companions first, which may have been luckier. Who does not
 * get everything asks the next kind of source: any rank, another one each time, and at last the
 * block's owner, who has everything.
 *
 * A rank that is elsewhere answers when it is back: it is not asked again and again meanwhile.
 */
#include "multicast/core/source.h"

#include <assert.h>

#define MAX_UNANSWERED 8u /* of one rank; it holds OC_CAST_MAX_SERVICES */

enum { ASK_HOST, ASK_ANY, ASK_OWNER };

static oc_cast_source_t nobody(const oc_cast_group_t *group)
{
    return (oc_cast_source_t) {.rank = group->config.num_ranks};
}

static bool is_companion(const oc_cast_group_t *group, uint32_t rank)
{
    return group->hosts[rank] == group->hosts[group->config.rank];
}

static bool source_has_room(const oc_cast_group_t *group, uint32_t rank)
{
    return group->active->unanswered[rank] < MAX_UNANSWERED;
}

/* Of the owners of other hosts, one after the other goes to each companion. */
static uint32_t fetcher_of(const oc_cast_group_t *group, uint32_t owner)
{
    uint32_t low = 0, high = group->num_companions;

    if (is_companion(group, owner)) {
        return owner;
    }
    assert(group->num_companions > 0);
    while (low < high) { /* how many companions are below the owner */
        uint32_t middle = (low + high) / 2;

        if (group->companions[middle] < owner) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return group->companions[(owner - low) % group->num_companions];
}

/* Another one of the same host that answers; num_ranks: there is none. */
static uint32_t rotate_host(oc_cast_group_t *group)
{
    for (uint32_t i = 0; i < group->num_companions; i++) {
        uint32_t rank = group->companions[group->rotation++ % group->num_companions];

        if (rank != group->config.rank && source_has_room(group, rank)
            && 0 == group->active->overdue[rank]) {
            return rank;
        }
    }
    return group->config.num_ranks;
}

/* Another one each time; remote: of another host. num_ranks: there is none. */
static uint32_t rotate_any(oc_cast_group_t *group, bool remote)
{
    for (uint32_t i = 0; i < group->config.num_ranks; i++) {
        uint32_t rank = group->rotation++ % group->config.num_ranks;

        if (rank != group->config.rank && source_has_room(group, rank)
            && !(remote && is_companion(group, rank))) {
            return rank;
        }
    }
    return group->config.num_ranks;
}

/* On this host; the rank is num_ranks if somebody else has to be asked. */
static oc_cast_source_t choose_on_host(oc_cast_group_t *group, uint32_t owner, uint32_t fetcher)
{
    oc_cast_source_t source = nobody(group);

    if (fetcher == group->config.rank) {
        source.rank = rotate_host(group);
    } else if (0 == group->active->overdue[fetcher]) {
        source.rank = fetcher;
        source.wait = fetcher != owner; /* who has all that was sent */
    }
    source.attempt = ASK_HOST;
    return source;
}

oc_cast_source_t oc_source_choose(oc_cast_group_t *group, uint32_t owner)
{
    const oc_block_t *block = &group->active->blocks[owner];
    uint32_t fetcher = fetcher_of(group, owner);
    oc_cast_source_t source = nobody(group);

    if (ASK_HOST == block->attempt && 0 == block->failures) {
        source = choose_on_host(group, owner, fetcher);
        if (source.rank < group->config.num_ranks) {
            return source_has_room(group, source.rank) ? source : nobody(group);
        }
    }
    if (block->attempt < ASK_OWNER && 0 == block->failures) {
        source.rank = rotate_any(group, fetcher == group->config.rank);
        source.attempt = ASK_ANY;
    } else {  /* once its checksum was wrong, nobody else is believed */
        source.rank = source_has_room(group, owner) ? owner : group->config.num_ranks;
        source.attempt = ASK_OWNER;
    }
    return source;
}
