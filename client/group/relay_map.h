/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where blocks are while one rank of each host multicasts for all of its host. The hosts' blocks
 * lie side by side in the order of the hosts, and each has those of its ranks in rank order: this
 * is the packed vector. Offsets and lengths are bytes. Pure functions; any thread.
 */
#ifndef OC_CLIENT_GROUP_RELAY_MAP_H
#define OC_CLIENT_GROUP_RELAY_MAP_H

#include "client/state/types.h"

typedef struct {
    uint32_t num_ranks, num_hosts;
    uint32_t *order;           /* the ranks as they lie in the packed vector */
    size_t *start;             /* where they begin there, in this order, and the end of the last */
    size_t *lengths, *offsets; /* of the hosts' blocks */
} oc_relay_map_t;

/* A part of one rank's block. */
typedef struct {
    uint32_t rank;
    size_t at, length;         /* in its block */
} oc_relay_part_t;

/* args: of the caller, by rank. false: no memory. */
bool oc_relay_map_make(oc_relay_map_t *map, const oc_node_t *node, uint32_t num_ranks,
                       const oc_cast_args_t *args);
void oc_relay_map_free(oc_relay_map_t *map);

size_t oc_relay_map_total(const oc_relay_map_t *map);

/* Bytes of a rank's block, and where it is in the caller's receive buffer. */
size_t oc_relay_length(const oc_cast_args_t *args, uint32_t rank);
size_t oc_relay_offset(const oc_cast_args_t *args, uint32_t rank);

/* Whether the caller's receive buffer is a packed vector. */
bool oc_relay_map_is_plain(const oc_relay_map_t *map, const oc_cast_args_t *args);

/*
 * What is at an offset of the packed vector, at most so long; length > 0, and all of it is in the
 * vector.
 */
oc_relay_part_t oc_relay_map_part(const oc_relay_map_t *map, size_t at, size_t length);

#endif
