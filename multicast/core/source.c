/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Whom to ask for what is missing. What a whole host has missed has to cross its link again, but
 * only once: for each block one rank of a host asks other hosts, its fetcher (partners.h), and the
 * others ask the fetcher, which gives them what it has as it gets it.
 *
 * The fetcher itself asks one of its companions first, which may have been luckier, then another
 * partner if the one above it is the owner, which has enough to send, and then the partner above
 * it, which gives what it gets from its own. Who does not get everything asks another partner, and
 * at last the block's owner, who has everything.
 *
 * A rank that is elsewhere answers when it is back: it is not asked again and again meanwhile.
 */
#include "multicast/core/source.h"

#include "multicast/core/partners.h"
#include "multicast/core/unicast.h"

#define MAX_UNANSWERED 8u /* of one rank; it holds OC_CAST_MAX_SERVICES */

enum { ASK_HOST, ASK_BESIDE, ASK_ABOVE, ASK_PARTNER, ASK_OWNER };

static oc_cast_source_t nobody(const oc_cast_group_t *group)
{
    return (oc_cast_source_t) {.rank = group->config.num_ranks};
}

static bool source_has_room(const oc_cast_group_t *group, uint32_t rank)
{
    return group->active->unanswered[rank] < MAX_UNANSWERED;
}

static bool answers(const oc_cast_group_t *group, uint32_t rank)
{
    return rank != group->config.rank && 0 == group->active->overdue[rank];
}

/* Another one of the same host that answers; num_ranks: there is none. */
static uint32_t rotate_host(oc_cast_group_t *group)
{
    const oc_cast_hosts_t *places = &group->places;
    uint32_t host = places->of[group->config.rank], first = places->first[host];
    uint32_t count = places->first[host + 1] - first;

    for (uint32_t i = 0; i < count; i++) {
        uint32_t rank = places->ranks[first + group->rotation++ % count];

        if (answers(group, rank) && source_has_room(group, rank)) {
            return rank;
        }
    }
    return group->config.num_ranks;
}

/* Another one each time, but not the owner; num_ranks: there is none. */
static uint32_t rotate_partners(oc_cast_group_t *group, uint32_t owner)
{
    uint32_t count = oc_partners_count(group);

    for (uint32_t i = 0; i < count; i++) {
        uint32_t rank = oc_partners_nth(group, group->rotation++ % count, owner);

        if (rank != owner && answers(group, rank) && source_has_room(group, rank)) {
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
        source.rank = group->unicast ? group->config.num_ranks : rotate_host(group);
    } else if (answers(group, fetcher)) {
        source.rank = fetcher;
        source.wait = fetcher != owner; /* who has all that was sent */
    }
    source.attempt = ASK_HOST;
    return source;
}

/*
 * As choose_on_host. Where few ranks send at a time, the link of one that does is full: what it has
 * sent once, others have as well. Where all send, every link carries the same.
 */
static oc_cast_source_t choose_beside(oc_cast_group_t *group, uint32_t owner)
{
    oc_cast_source_t source = nobody(group);

    if (!group->active->together && !group->unicast
        && !oc_partners_share_host(group, group->config.rank, owner)
        && oc_partners_above(group, owner) == owner) {
        source.rank = rotate_partners(group, owner);
        source.attempt = ASK_BESIDE;
    }
    return source;
}

/* As choose_on_host. */
static oc_cast_source_t choose_above(oc_cast_group_t *group, uint32_t owner)
{
    oc_cast_source_t source = nobody(group);

    if (!oc_partners_share_host(group, group->config.rank, owner)) {
        uint32_t above = group->unicast ? oc_unicast_source(group, owner)
                                        : oc_partners_above(group, owner);

        if (answers(group, above)) {
            source.rank = above;
            source.wait = above != owner;
        }
    }
    source.attempt = ASK_ABOVE;
    return source;
}

static oc_cast_source_t if_there_is_room(const oc_cast_group_t *group, oc_cast_source_t source,
                                         bool urgent)
{
    bool may = urgent && 0 == group->active->overdue[source.rank]
               && group->active->unanswered[source.rank] < UINT8_MAX;

    return may || source_has_room(group, source.rank) ? source : nobody(group);
}

oc_cast_source_t oc_source_choose(oc_cast_group_t *group, uint32_t owner, bool urgent)
{
    const oc_block_t *block = &group->active->blocks[owner];
    /* once its checksum was wrong, nobody else is believed */
    unsigned attempt = 0 == block->failures ? block->attempt : ASK_OWNER;
    oc_cast_source_t source = nobody(group);

    if (attempt <= ASK_HOST) {
        source = choose_on_host(group, owner,
                                oc_partners_fetcher(group, group->config.rank, owner));
    }
    if (attempt <= ASK_BESIDE && source.rank == group->config.num_ranks) {
        source = choose_beside(group, owner);
    }
    if (attempt <= ASK_ABOVE && source.rank == group->config.num_ranks) {
        source = choose_above(group, owner);
    }
    if (source.rank < group->config.num_ranks) {
        return if_there_is_room(group, source, urgent);
    }
    if (attempt <= ASK_PARTNER) {
        source.rank = rotate_partners(group, owner);
        source.attempt = ASK_PARTNER;
        if (source.rank < group->config.num_ranks) {
            return source;
        }
    }
    source.rank = owner;
    source.attempt = ASK_OWNER;
    return if_there_is_room(group, source, urgent);
}
