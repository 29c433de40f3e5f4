/* SPDX-License-Identifier: BSD-3-Clause */
/* Owns links, switches, and the ways of packets through them. */
#include "tests/multicast/fabric.h"

#include <stdlib.h>

#include "base/clock.h"
#include "tests/multicast/memory.h"
#include "tests/random.h"

typedef struct {
    uint64_t rate;
    double free_at;              /* when all that was given to it is out, if it had no tokens */
    double credit;               /* ns by which that may lie in the past */
    size_t queue;                /* bytes that may wait */
    double loss;                 /* the share of multicast packets that do not come to its end */
    uint64_t last;               /* when the last packet came to the switch; of hosts */
    fabric_traffic_t traffic;
} fabric_link_t;

/* A switch with what is below it: hosts, or the switches from first to end. */
typedef struct {
    unsigned first, end;
    fabric_link_t up, down;      /* to and from the switch above; not used at the top */
} fabric_switch_t;

/* Switches of one kind; hosts are below the first level. */
typedef struct {
    fabric_switch_t *switches;
    unsigned count;
    unsigned share;              /* hosts under each */
} fabric_level_t;

#define MAX_LEVELS 3

typedef struct {
    unsigned users;
    unsigned from;
    uint32_t to;
    size_t bytes;
    const fabric_client_t *client;
    void *owner, *thing;
} packet_t;

struct fabric {
    fabric_config_t config;
    events_t *events;
    fabric_link_t *up, *down;    /* by host */
    fabric_level_t levels[MAX_LEVELS];
    unsigned num_levels;
    oc_random_t random;
};

static void release(packet_t *packet)
{
    if (0 == --packet->users) {
        packet->client->released(packet->owner, packet->thing);
        free(packet);
    }
}

static void forget(void *owner, const event_t *event)
{
    (void) owner;
    release(event->thing);
}

/* ---- links ---- */

static double time_on(const fabric_link_t *link, size_t bytes)
{
    return (double) bytes * OC_SECOND / (double) link->rate;
}

/* When a packet would be out of a link. */
static double out_at(const fabric_link_t *link, uint64_t now, size_t bytes)
{
    double from = (double) now - link->credit;

    return (link->free_at > from ? link->free_at : from) + time_on(link, bytes);
}

/* Gives a packet to a link. false: it is lost. */
static bool take(fabric_link_t *link, uint64_t now, const packet_t *packet, uint64_t *at)
{
    double out = out_at(link, now, packet->bytes);
    double wait = out > (double) now ? out - (double) now : 0;
    size_t queued = (size_t) (wait * (double) link->rate / OC_SECOND + 0.5);

    if (queued > link->queue) {
        link->traffic.lost++;
        return false;
    }
    link->free_at = out;
    link->traffic.packets++;
    link->traffic.bytes += packet->bytes;
    link->traffic.multicast += FABRIC_ALL == packet->to;
    if (queued > link->traffic.most_queued) {
        link->traffic.most_queued = queued;
    }
    *at = now + (uint64_t) (wait + 0.5);
    return true;
}

static bool vanishes(fabric_t *fabric, fabric_link_t *link, const packet_t *packet)
{
    bool gone = FABRIC_ALL == packet->to && link->loss > 0
                && oc_random_chance(&fabric->random, link->loss);

    link->traffic.lost += gone;
    return gone;
}

/* ---- switches ---- */

static const event_kind_t at_host, at_switch;

/* below: the level under this one. Where it is at after the link. */
static void cross(fabric_t *fabric, fabric_link_t *link, packet_t *packet,
                  const event_kind_t *kind, uint32_t level, uint32_t place)
{
    event_t event = {.kind = kind, .owner = fabric, .from = level, .to = place, .thing = packet};

    if (take(link, events_now(fabric->events), packet, &event.at)
        && !vanishes(fabric, link, packet)) {
        event.at += fabric->config.latency;
        packet->users++;
        events_plan(fabric->events, event);
    }
}

static void go_down(fabric_t *fabric, packet_t *packet, unsigned level, unsigned child)
{
    if (0 == level) {
        cross(fabric, &fabric->down[child], packet, &at_host, 0, child);
    } else {
        cross(fabric, &fabric->levels[level - 1].switches[child].down, packet, &at_switch, level - 1,
              child);
    }
}

/* What is below a switch of this level, and has the host below it, or is it. */
static unsigned child_with(const fabric_t *fabric, unsigned level, unsigned host)
{
    return 0 == level ? host : host / fabric->levels[level - 1].share;
}

static void copy_down(fabric_t *fabric, packet_t *packet, unsigned level,
                      const fabric_switch_t *at, bool from_below)
{
    unsigned origin = child_with(fabric, level, packet->from);

    for (unsigned child = at->first; child < at->end; child++) {
        if (!from_below || child != origin) {
            go_down(fabric, packet, level, child);
        }
    }
}

static void pass_switch(void *owner, const event_t *event)
{
    fabric_t *fabric = owner;
    packet_t *packet = event->thing;
    unsigned level = event->from, number = event->to;
    fabric_level_t *own = &fabric->levels[level];
    fabric_switch_t *at = &own->switches[number];
    bool from_below = packet->from / own->share == number;
    bool is_top = level + 1 == fabric->num_levels;

    if (FABRIC_ALL == packet->to) {
        copy_down(fabric, packet, level, at, from_below);
    } else if (packet->to / own->share == number) {
        go_down(fabric, packet, level, child_with(fabric, level, packet->to));
    }
    if (!is_top && from_below
        && (FABRIC_ALL == packet->to || packet->to / own->share != number)) {
        cross(fabric, &at->up, packet, &at_switch, level + 1,
              number * own->share / fabric->levels[level + 1].share);
    }
    release(packet);
}

static void reach_host(void *owner, const event_t *event)
{
    packet_t *packet = event->thing;

    (void) owner;
    packet->client->arrived(packet->owner, packet->thing, event->to);
    release(packet);
}

/* Out of the link of its host, and at the switch. */
static void leave_host(void *owner, const event_t *event)
{
    fabric_t *fabric = owner;
    packet_t *packet = event->thing;

    if (NULL != packet->client->sent) {
        packet->client->sent(packet->owner, packet->thing);
    }
    if (vanishes(fabric, &fabric->up[packet->from], packet)) {
        release(packet);
    } else {
        pass_switch(owner, event);
    }
}

static uint64_t jitter(fabric_t *fabric)
{
    return 0 == fabric->config.jitter
               ? 0
               : oc_random_below(&fabric->random, fabric->config.jitter);
}

static const event_kind_t at_host = {reach_host, forget};
static const event_kind_t at_switch = {pass_switch, forget};
static const event_kind_t out_of_host = {leave_host, forget};

void fabric_send(fabric_t *fabric, unsigned from, uint32_t to, size_t bytes,
                 const fabric_client_t *client, void *owner, void *thing)
{
    fabric_link_t *link = &fabric->up[from];
    packet_t *packet = memory_new(sizeof(*packet));
    event_t event = {.kind = &out_of_host, .owner = fabric, .from = 0,
                     .to = from / fabric->levels[0].share, .thing = packet};

    *packet = (packet_t) {.users = 1, .from = from, .to = to, .bytes = bytes, .client = client,
                          .owner = owner, .thing = thing};
    (void) take(link, events_now(fabric->events), packet, &event.at);
    event.at += jitter(fabric);
    event.at = event.at > link->last ? event.at : link->last;
    link->last = event.at;
    events_plan(fabric->events, event);
}

/* ---- what there is ---- */

static void make_level(fabric_t *fabric, unsigned share)
{
    const fabric_config_t *config = &fabric->config;
    unsigned hosts = config->num_hosts, below = fabric->num_levels;
    fabric_level_t *level = &fabric->levels[fabric->num_levels++];
    unsigned children = 0 == below ? share : share / fabric->levels[below - 1].share;
    unsigned all = 0 == below ? hosts : fabric->levels[below - 1].count;

    level->share = share;
    level->count = (hosts + share - 1) / share;
    level->switches = memory_new(level->count * sizeof(*level->switches));
    for (unsigned i = 0; i < level->count; i++) {
        uint64_t rate = 0 != config->trunk_rate ? config->trunk_rate : config->rate * share;
        fabric_link_t link = {.rate = rate, .queue = config->port_queue};
        unsigned end = (i + 1) * children;

        level->switches[i] = (fabric_switch_t) {.first = i * children, .end = end < all ? end : all,
                                                .up = link, .down = link};
    }
}

static void make_levels(fabric_t *fabric)
{
    const fabric_config_t *config = &fabric->config;
    unsigned hosts = config->num_hosts;

    if (config->leaf_hosts > 0 && config->leaf_hosts < hosts) {
        make_level(fabric, config->leaf_hosts);
        if (config->pod_hosts > 0 && config->pod_hosts < hosts) {
            make_level(fabric, config->pod_hosts);
        }
        /* whole pods below the top, so that shares divide each other */
        hosts = fabric->levels[fabric->num_levels - 1].share
                * fabric->levels[fabric->num_levels - 1].count;
    }
    make_level(fabric, hosts);
}

fabric_t *fabric_new(const fabric_config_t *config, events_t *events)
{
    fabric_t *fabric = memory_new(sizeof(*fabric));
    fabric_link_t link = {.rate = config->rate, .queue = config->port_queue};

    link.credit = time_on(&link, config->burst);
    fabric->config = *config;
    fabric->events = events;
    fabric->random.state = config->seed;
    fabric->up = memory_new(config->num_hosts * sizeof(fabric_link_t));
    fabric->down = memory_new(config->num_hosts * sizeof(fabric_link_t));
    for (unsigned i = 0; i < config->num_hosts; i++) {
        fabric->down[i] = link;
        fabric->up[i] = link;
        /* what a host keeps for its own link is its socket's matter */
        fabric->up[i].queue = SIZE_MAX;
    }
    make_levels(fabric);
    return fabric;
}

void fabric_free(fabric_t *fabric)
{
    if (NULL == fabric) {
        return;
    }
    for (unsigned i = 0; i < fabric->num_levels; i++) {
        free(fabric->levels[i].switches);
    }
    free(fabric->up);
    free(fabric->down);
    free(fabric);
}

void fabric_lose_up(fabric_t *fabric, unsigned host, double share)
{
    fabric->up[host].loss = share;
}

void fabric_lose_down(fabric_t *fabric, unsigned host, double share)
{
    fabric->down[host].loss = share;
}

const fabric_traffic_t *fabric_up(const fabric_t *fabric, unsigned host)
{
    return &fabric->up[host].traffic;
}

const fabric_traffic_t *fabric_down(const fabric_t *fabric, unsigned host)
{
    return &fabric->down[host].traffic;
}

static void add_link(fabric_traffic_t *total, const fabric_link_t *link)
{
    total->packets += link->traffic.packets;
    total->bytes += link->traffic.bytes;
    total->multicast += link->traffic.multicast;
    total->lost += link->traffic.lost;
    if (link->traffic.most_queued > total->most_queued) {
        total->most_queued = link->traffic.most_queued;
    }
}

fabric_traffic_t fabric_total(const fabric_t *fabric)
{
    fabric_traffic_t total = {0};

    for (unsigned i = 0; i < fabric->config.num_hosts; i++) {
        add_link(&total, &fabric->up[i]);
        add_link(&total, &fabric->down[i]);
    }
    for (unsigned level = 0; level + 1 < fabric->num_levels; level++) {
        for (unsigned i = 0; i < fabric->levels[level].count; i++) {
            add_link(&total, &fabric->levels[level].switches[i].up);
            add_link(&total, &fabric->levels[level].switches[i].down);
        }
    }
    return total;
}

uint64_t fabric_wait(const fabric_t *fabric, unsigned host, size_t bytes)
{
    uint64_t now = events_now(fabric->events);
    double out = out_at(&fabric->up[host], now, bytes);

    return out > (double) now ? (uint64_t) (out - (double) now) : 0;
}
