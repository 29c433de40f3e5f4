/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What links, aggregators and ranks have to do, and which of them is busiest: see division.h, and
 * owner_shares.h for results that go to owners.
 */
#include "client/plan/offloaded.h"

#include "base/limits.h"
#include "client/plan/division.h"
#include "client/plan/model_time.h"
#include "client/plan/owner_shares.h"
#include "net/address.h"

#define WHOLE 1000

/*
 * Short blocks are many small messages, which processors that ranks share take longer for than this
 * model says: bench/run regret has seen 16 KiB of 16 ranks lose that it took for a gain.
 */
#define OWNED_LEAST 65536

/* What the busiest link carries of a vector that each host sends once, and the busiest server. */
typedef struct {
    uint64_t link, server;
} load_t;

/* Hosts that aggregate, also if each has several aggregators. */
static uint64_t peer_hosts(const oc_situation_t *s)
{
    return least_of(s->peers, s->hosts);
}

/* Of an Allreduce. */
static uint64_t busiest_link(const oc_situation_t *s, uint64_t bytes)
{
    uint64_t hosts = s->hosts, full = hosts * OC_WEIGHT_ONE;

    if (0 == s->weights) {
        return scale(bytes, peer_hosts(s) + hosts - 2, peer_hosts(s));
    }
    if (s->weights >= full) {
        return bytes;
    }
    return s->peers > 1 ? scale(bytes, 2 * (hosts - 1) * full,
                                hosts * full + s->weights * (hosts - 2))
                        : scale(bytes, full, s->weights);
}

/* The ranks of a host meet before and after, which takes them no less time than MPI. */
static uint64_t meeting_time(const oc_constants_t *c, const oc_situation_t *s)
{
    return s->nodes ? 2 * log2_up(s->per_host) * (c->link_latency / LOCAL_PART) : 0;
}

/*
 * What the busiest server takes in of it, or a peer, from all senders together: by its share of
 * the vector, however fast its link is.
 */
static uint64_t busiest_server(const oc_situation_t *s, uint64_t bytes)
{
    uint64_t hosts = s->hosts, full = hosts * OC_WEIGHT_ONE, link = busiest_link(s, bytes);
    uint64_t peer;

    if (0 == s->weights) {
        return scale(bytes, hosts, peer_hosts(s));
    }
    if (s->weights >= full || s->peers < 2) {
        return scale(bytes, hosts * s->heaviest, s->weights);
    }
    peer = scale(link, full - s->weights, 2 * (hosts - 1) * OC_WEIGHT_ONE);
    return most_of(peer, scale(link, s->heaviest, OC_WEIGHT_ONE));
}

/* Of a vector, in thousandths, what servers get whose result goes to owners. */
static uint64_t part_of_servers(const oc_situation_t *s, oc_ruled_t ruled)
{
    if (0 == s->weights) {
        return 0;
    }
    return s->peers > 1 ? oc_owner_part_of_servers(s->weights, s->peers,
                                                   s->paired && OC_RULED_REDUCE != ruled)
                        : WHOLE;
}

/* What a host sends: what others own, and to servers also its own part, if that is to be folded. */
static uint64_t sent_to_owners(const oc_situation_t *s, bool all, uint64_t served, uint64_t bytes)
{
    uint64_t others = s->hosts - 1;

    return add(scale(bytes - served, others, s->hosts),
               all ? served : scale(served, others, s->hosts));
}

/*
 * Of a Reduce a host sends everything, and hosts that aggregate take in what is left of that by
 * servers, but for the root.
 */
static load_t owned_load(const oc_situation_t *s, oc_ruled_t ruled, uint64_t bytes)
{
    bool rooted = OC_RULED_REDUCE == ruled, all = rooted || s->in_order;
    uint64_t hosts = s->hosts, senders = all ? hosts : hosts - 1;
    uint64_t part = part_of_servers(s, ruled), served = scale(bytes, part, WHOLE);
    uint64_t peers = most_of(peer_hosts(s), 1) - (rooted && peer_hosts(s) > 1);
    uint64_t own = (bytes - served) / peers, block = rooted ? 0 : bytes / hosts;
    load_t load = {.link = rooted ? bytes : sent_to_owners(s, all, served, bytes),
                   .server = scale(own, senders, 1)};

    load.link = most_of(load.link, add(scale(own, hosts - 2, 1), s->wide ? 2 * block : block));
    if (served > 0) {
        load.link = most_of(load.link, scale(served, senders * OC_WEIGHT_ONE, s->weights));
        load.server = most_of(load.server, scale(served, senders * s->heaviest, s->weights));
    }
    return load;
}

static load_t load_of(const oc_situation_t *s, oc_ruled_t ruled, uint64_t bytes)
{
    if (OC_RULED_ALLREDUCE != ruled) {
        return owned_load(s, ruled, bytes);
    }
    return (load_t) {.link = busiest_link(s, bytes), .server = busiest_server(s, bytes)};
}

/* So many times to an aggregator and back, and what the ranks of a host need to meet. */
static uint64_t latency(const oc_constants_t *c, const oc_situation_t *s, unsigned trips)
{
    return add(add(c->offload_latency, 2 * trips * c->link_latency), meeting_time(c, s));
}

/* Each sender sends to one aggregator, and gets as much from it; one rank of a host reads all. */
static uint64_t small_time(const oc_constants_t *c, const oc_situation_t *s, uint64_t bytes)
{
    uint64_t senders = s->nodes ? s->hosts : s->ranks;
    uint64_t message = add(c->message_cost, at_rate(bytes, c->link_rate));
    uint64_t inside = s->nodes ? at_rate(scale(bytes, s->per_host, 1), c->memory_rate) : 0;

    return add(latency(c, s, 1), add(inside, scale(2 * senders, message, 1)));
}

/* As large.c has it: no more than what each aggregator gets. */
static uint64_t chunk_of(const oc_situation_t *s, oc_ruled_t ruled, uint64_t bytes)
{
    bool scattered = OC_RULED_REDUCE_SCATTER == ruled || OC_RULED_REDUCE_SCATTER_BLOCK == ruled;
    bool beside = s->paired && scattered && s->peers > 0 && s->peers < s->lanes;
    uint64_t lanes = beside ? most_of(s->peers, s->lanes - s->peers) : most_of(s->lanes, 1);
    uint64_t share = (bytes + lanes - 1) / lanes;
    uint64_t chunk = most_of(bytes / (lanes * s->fewest_chunks), OC_FINE_CHUNK);

    return most_of(least_of(least_of(chunk, s->largest_chunk), share), OC_MIN_CHUNK);
}

/*
 * Links, aggregators and the ranks' processors work at the same time; but until the first chunk
 * of all ranks has come nothing goes back, and at the end nothing is left to send. Each sender
 * begins and ends with three messages more, of which ACK and COMMIT come when all is there, and
 * nobody has less to carry than one chunk of all. A host without servers aggregates beside what it
 * sends and receives.
 */
static uint64_t large_time(const oc_constants_t *c, const oc_situation_t *s, oc_ruled_t ruled,
                           uint64_t bytes)
{
    uint64_t chunk = chunk_of(s, ruled, bytes), crowd = s->nodes ? 1 : s->per_host;
    uint64_t senders = s->nodes ? s->hosts : s->ranks;
    uint64_t sent = scale(bytes, crowd, 1), least = senders * chunk;
    load_t load = load_of(s, ruled, sent);
    uint64_t carried = most_of(load.link, least), taken = most_of(load.server, least);
    uint64_t link = at_rate(carried, c->link_rate);
    uint64_t own = s->weights > 0 ? 0 : scale(sent, OC_RULED_ALLREDUCE == ruled ? 2 : 1, 1);
    uint64_t server = add(at_rate(add(taken, own), c->server_rate),
                          scale(taken, 2 * c->message_cost, chunk));
    uint64_t copies = s->nodes && s->per_host > 1 ? at_rate(scale(bytes, 3, 1), c->memory_rate)
                                                  : 0;
    uint64_t first = scale(s->weights > 0 && s->nodes ? 2 * senders : senders, chunk, 1);
    uint64_t alone = at_rate(least_of(carried, first), c->link_rate);
    uint64_t before = add(latency(c, s, 2), scale(3 * senders, c->message_cost, 1));

    return add(before, add(alone, most_of(most_of(link, server), copies)));
}

uint64_t oc_offloaded_time(const oc_constants_t *constants, const oc_situation_t *situation,
                           oc_ruled_t ruled, uint64_t bytes)
{
    bool many = situation->peers > OC_MAX_PEERS;

    if (OC_RULED_BARRIER == ruled || (OC_RULED_ALLREDUCE != ruled && bytes < OWNED_LEAST)) {
        return OC_FOREVER;
    }
    if ((0 == situation->weights && (0 == situation->peers || many)) || situation->hosts < 2) {
        return OC_FOREVER;
    }
    if (situation->tree) {
        /* the link of a leaf with n hosts carries n + 1 vectors: never less than a ring */
        return OC_FOREVER;
    }
    return OC_RULED_ALLREDUCE == ruled && bytes <= situation->small_size
               ? small_time(constants, situation, bytes)
               : large_time(constants, situation, ruled, bytes);
}
