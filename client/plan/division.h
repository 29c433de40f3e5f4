/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How the chunks of a vector are divided among the aggregators of a group. Pure functions of what
 * is equal on all ranks, in whole numbers: the same everywhere.
 *
 * With n hosts that aggregate as peers and servers that are worth k of their links, a peer gets the
 * share x of a vector and a server of weight w the share w y, so that all links have as much to do:
 *
 *     n x + k y = 1            all of the vector
 *     n y = 1 + (n - 2) x      a server's link, and a host's: 1 - x for others, (n - 1) x as a peer
 *
 * Only hosts that aggregate count. If others have ranks as well, because their peers cannot start,
 * all of the vector is still divided, but servers get more of it than would be best.
 *
 * Hence y = 2 (n - 1) / (n² + k n - 2 k) and x = (n - k) y / (2 (n - 1)). For k >= n peers have
 * nothing to do. A lane is one aggregator.
 */
#ifndef OC_CLIENT_PLAN_DIVISION_H
#define OC_CLIENT_PLAN_DIVISION_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"

/* Each of more would have a connection from every other host, for less and less of a vector. */
#define OC_MAX_PEERS 64

/* Whether peers on so many hosts relieve servers of these weights, which are in OC_WEIGHT_ONE. */
bool oc_peers_help(uint32_t hosts, uint64_t weights);

/*
 * Of one aggregator of a server that has so many, and of a peer; only ratios count. hosts: those
 * that aggregate as peers, of whom there are none or more than one if there are servers.
 */
uint64_t oc_share_of_server(uint32_t hosts, uint32_t weight, unsigned aggregators);
uint64_t oc_share_of_peer(uint32_t hosts, uint64_t weights);

/*
 * An endless row of places, each of which belongs to a lane; it repeats itself after a period. In
 * any piece from the beginning a lane has its share, rounded up or down.
 */
typedef struct {
    uint32_t weight;       /* places of this lane in a period … */
    const uint32_t *places; /* … and which these are, in order */
} oc_portion_t;

typedef struct {
    unsigned num_lanes;
    uint32_t period;
    uint32_t least, most;  /* the smallest and the largest of all weights */
    oc_portion_t *portions; /* by lane */
    uint32_t *places;
    uint32_t *lanes;       /* whose each place of a period is */
} oc_division_t;

/* At least one lane; no share is 0. Each lane gets something, however small its share is. */
oc_status_t oc_division_make(const uint64_t *shares, unsigned num_lanes, oc_division_t *division);
void oc_division_free(oc_division_t *division);

/* How many of the places before this one belong to a lane. */
uint64_t oc_division_before(const oc_division_t *division, unsigned lane, uint64_t place);

/* Which place a lane's number is, counted from 0. */
uint64_t oc_division_place(const oc_division_t *division, unsigned lane, uint64_t number);

/* Whose a place is. */
unsigned oc_division_lane(const oc_division_t *division, uint64_t place);

#endif
