/* SPDX-License-Identifier: BSD-3-Clause */
/* Packed vectors: ranks sorted by host, by counting. */
#include "client/group/relay_map.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

size_t oc_relay_length(const oc_cast_args_t *args, uint32_t rank)
{
    return NULL != args->lengths ? args->lengths[rank] : args->block;
}

size_t oc_relay_offset(const oc_cast_args_t *args, uint32_t rank)
{
    return NULL != args->lengths ? args->offsets[rank] : rank * args->block;
}

static bool relay_map_allocate(oc_relay_map_t *map)
{
    map->order = calloc(map->num_ranks, sizeof(*map->order));
    map->start = calloc(map->num_ranks + 1u, sizeof(*map->start));
    map->lengths = calloc(2 * (size_t) map->num_hosts, sizeof(*map->lengths));
    map->offsets = NULL == map->lengths ? NULL : map->lengths + map->num_hosts;
    return NULL != map->order && NULL != map->start && NULL != map->lengths;
}

/* next: room for a number of each host. */
static void sort_ranks(oc_relay_map_t *map, const uint32_t *hosts, uint32_t *next)
{
    uint32_t sum = 0;

    for (uint32_t rank = 0; rank < map->num_ranks; rank++) {
        next[hosts[rank]]++;
    }
    for (uint32_t host = 0; host < map->num_hosts; host++) {
        uint32_t count = next[host];

        next[host] = sum;
        sum += count;
    }
    for (uint32_t rank = 0; rank < map->num_ranks; rank++) {
        map->order[next[hosts[rank]]++] = rank;
    }
}

static void relay_map_measure(oc_relay_map_t *map, const uint32_t *hosts,
                              const oc_cast_args_t *args)
{
    size_t at = 0;

    for (uint32_t i = 0; i < map->num_ranks; i++) {
        uint32_t rank = map->order[i], host = hosts[rank];

        if (0 == i || host != hosts[map->order[i - 1]]) {
            map->offsets[host] = at;
        }
        map->start[i] = at;
        map->lengths[host] += oc_relay_length(args, rank);
        at += oc_relay_length(args, rank);
    }
    map->start[map->num_ranks] = at;
}

bool oc_relay_map_make(oc_relay_map_t *map, const oc_node_t *node, uint32_t num_ranks,
                       const oc_cast_args_t *args)
{
    uint32_t *next = calloc(node->num_hosts, sizeof(*next));
    bool good;

    *map = (oc_relay_map_t) {.num_ranks = num_ranks, .num_hosts = node->num_hosts};
    good = relay_map_allocate(map) && NULL != next;
    if (good) {
        sort_ranks(map, node->hosts, next);
        relay_map_measure(map, node->hosts, args);
    }
    free(next);
    return good;
}

void oc_relay_map_free(oc_relay_map_t *map)
{
    free(map->order);
    free(map->start);
    free(map->lengths);
    *map = (oc_relay_map_t) {0};
}

size_t oc_relay_map_total(const oc_relay_map_t *map)
{
    return map->start[map->num_ranks];
}

bool oc_relay_map_is_plain(const oc_relay_map_t *map, const oc_cast_args_t *args)
{
    for (uint32_t i = 0; i < map->num_ranks; i++) {
        uint32_t rank = map->order[i];

        if (0 != oc_relay_length(args, rank) && map->start[i] != oc_relay_offset(args, rank)) {
            return false;
        }
    }
    return true;
}

oc_relay_part_t oc_relay_map_part(const oc_relay_map_t *map, size_t at, size_t length)
{
    uint32_t low = 0, high = map->num_ranks;
    size_t left;

    assert(length > 0 && at < oc_relay_map_total(map));
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;

        if (map->start[middle] <= at) {
            low = middle;
        } else {
            high = middle;
        }
    }
    left = map->start[low + 1] - at;
    return (oc_relay_part_t) {.rank = map->order[low], .at = at - map->start[low],
                              .length = left < length ? left : length};
}
