/* SPDX-License-Identifier: BSD-3-Clause */
/* Numbers the hosts, and tells which rank of which host is asked. */
#include "multicast/core/partners.h"

#include <assert.h>
#include <stdlib.h>

/* Ranks of a host side by side, in rising order. */
static int by_host(const void *a, const void *b, void *arg)
{
    const uint32_t *hosts = arg;
    uint32_t x = *(const uint32_t *) a, y = *(const uint32_t *) b;

    if (hosts[x] != hosts[y]) {
        return hosts[x] < hosts[y] ? -1 : 1;
    }
    return x < y ? -1 : 1;
}

static void number_hosts(oc_cast_group_t *group)
{
    oc_cast_hosts_t *places = &group->places;
    uint32_t ranks = group->config.num_ranks;

    for (uint32_t i = 0; i < ranks; i++) {
        places->ranks[i] = i;
    }
    qsort_r(places->ranks, ranks, sizeof(*places->ranks), by_host, group->hosts);
    for (uint32_t i = 0; i < ranks; i++) {
        uint32_t rank = places->ranks[i];

        if (0 == i || group->hosts[rank] != group->hosts[places->ranks[i - 1]]) {
            places->first[places->count++] = i;
        }
        places->of[rank] = places->count - 1;
        places->at[rank] = i;
    }
    places->first[places->count] = ranks;
}

oc_status_t oc_partners_begin(oc_cast_group_t *group)
{
    oc_cast_hosts_t *places = &group->places;
    size_t ranks = group->config.num_ranks;

    places->of = calloc(ranks, sizeof(*places->of));
    places->ranks = calloc(ranks, sizeof(*places->ranks));
    places->at = calloc(ranks, sizeof(*places->at));
    places->first = calloc(ranks + 1, sizeof(*places->first));
    if (NULL == places->of || NULL == places->ranks || NULL == places->at
        || NULL == places->first) {
        return OC_ERR_NO_MEMORY;
    }
    number_hosts(group);
    return OC_OK;
}

void oc_partners_end(oc_cast_group_t *group)
{
    free(group->places.of);
    free(group->places.ranks);
    free(group->places.at);
    free(group->places.first);
    group->places = (oc_cast_hosts_t) {0};
}

bool oc_partners_share_host(const oc_cast_group_t *group, uint32_t rank, uint32_t other)
{
    return group->places.of[rank] == group->places.of[other];
}

/* On a host. Of the owners of other hosts, one after the other goes to each of its ranks. */
static uint32_t fetcher_on(const oc_cast_group_t *group, uint32_t host, uint32_t owner)
{
    const oc_cast_hosts_t *places = &group->places;
    const uint32_t *ranks = places->ranks + places->first[host];
    uint32_t count = places->first[host + 1] - places->first[host], low = 0, high = count;

    if (host == places->of[owner]) {
        return owner;
    }
    while (low < high) { /* how many ranks of the host are below the owner */
        uint32_t middle = (low + high) / 2;

        if (ranks[middle] < owner) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return ranks[(owner - low) % count];
}

uint32_t oc_partners_fetcher(const oc_cast_group_t *group, uint32_t rank, uint32_t owner)
{
    return fetcher_on(group, group->places.of[rank], owner);
}

uint32_t oc_partners_above(const oc_cast_group_t *group, uint32_t owner)
{
    const oc_cast_hosts_t *places = &group->places;
    uint32_t own = places->of[group->config.rank], root = places->of[owner];
    uint32_t distance = (own + places->count - root) % places->count;
    uint32_t step = distance & -distance;

    assert(own != root);
    return fetcher_on(group, (own + places->count - step) % places->count, owner);
}

/* Where this rank's host ends in places->ranks: there the order begins, and goes back. */
static uint32_t end_of_host(const oc_cast_group_t *group)
{
    return group->places.first[group->places.of[group->config.rank] + 1];
}

uint32_t oc_partners_behind(const oc_cast_group_t *group, uint32_t number)
{
    uint32_t ranks = group->config.num_ranks;

    return group->places.ranks[(end_of_host(group) + ranks - 1 - number) % ranks];
}

uint32_t oc_partners_number(const oc_cast_group_t *group, uint32_t rank)
{
    uint32_t ranks = group->config.num_ranks;

    return (end_of_host(group) + ranks - 1 - group->places.at[rank]) % ranks;
}

uint32_t oc_partners_count(const oc_cast_group_t *group)
{
    uint32_t count = 0;

    for (uint32_t step = 1; step < group->places.count; step *= 2) {
        count += 2;
    }
    return count;
}

uint32_t oc_partners_nth(const oc_cast_group_t *group, uint32_t number, uint32_t owner)
{
    const oc_cast_hosts_t *places = &group->places;
    uint32_t own = places->of[group->config.rank], step = 1u << number / 2;

    assert(step < places->count);
    return fetcher_on(group, (0 == number % 2 ? own + places->count - step : own + step)
                                 % places->count, owner);
}
