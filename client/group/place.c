/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which ranks share a host, and whether they can share memory. All of it but attaching is a
 * function of the records, which are the same on all ranks; who cannot attach says so in a vote.
 */
#include "client/group/place.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <uthash.h>

#include "base/log.h"
#include "client/state/setup_state.h"

/* Bounds of a segment: places by window, as long as they do not take more memory than this. */
#define MAX_PLACES_BYTES (16u << 20)
#define PLACES_A_WINDOW  8
#define MIN_PLACES       2

/* Of the segments that a process makes for all its groups. */
#define MAX_NODE_BYTES   (256u << 20)

typedef struct {
    uint64_t node;
    uint32_t number, members;
    bool shares;               /* all of its ranks */
    UT_hash_handle hh;
} host_t;

/* Of multicast: pieces of this size go through the caches, and waking for each costs little. */
#define RELAY_BYTES  (128u << 10)
#define RELAY_PLACES 8

static bool is_cast(const oc_group_t *group)
{
    return OC_SERVICE_MULTICAST == group->params.service;
}

/* Whether ranks of a host are to share memory, if they can. Equal on all ranks. */
static bool place_is_wanted(const oc_group_t *group)
{
    const oc_job_settings_t *settings = group->client->config.settings;

    return is_cast(group) ? OC_RECEIVER_HOST == settings->multicast_receiver
                          : OC_REPRODUCIBLE_SHAPE == settings->reproducible;
}

static oc_ring_shape_t place_shape_of(const oc_group_t *group)
{
    const oc_job_settings_t *settings = group->client->config.settings;
    size_t chunk = oc_settings_largest_chunk(settings) / OC_MIN_CHUNK * OC_MIN_CHUNK;
    size_t size = chunk > OC_MAX_SMALL ? chunk : OC_MAX_SMALL;
    size_t places = (size_t) settings->window * PLACES_A_WINDOW;

    if (is_cast(group)) {
        return (oc_ring_shape_t) {.place_size = RELAY_BYTES, .capacity = RELAY_PLACES};
    }
    places = places < MAX_PLACES_BYTES / size ? places : MAX_PLACES_BYTES / size;
    return (oc_ring_shape_t) {.place_size = size,
                              .capacity = (unsigned) (places > MIN_PLACES ? places : MIN_PLACES)};
}

void oc_place_flat(oc_group_t *group)
{
    oc_node_free(group);
    if (is_cast(group)) {
        return;
    }
    group->servers->teams = (oc_teams_t) {
        .count = 1, .own = 1, .step = 1, .num_ranks = group->params.num_ranks,
        .rank = group->params.rank,
        .window = (unsigned) group->client->config.settings->window};
}

void oc_place_tell(oc_group_t *group)
{
    bool *told = &group->client->told_flat;

    oc_log(*told ? OC_LOG_INFO : OC_LOG_WARN, "\"%s\" %s: %s", group->name,
           is_cast(group) ? "receives multicast in each rank of a host, instead of once, which takes more "
                            "processor time"
                          : "is not reduced inside hosts first, so that its results may be rounded "
                            "otherwise",
           group->setup->unshared);
    *told = true;
}

void oc_node_free(oc_group_t *group)
{
    oc_node_t *node = group->node;

    if (NULL == node) {
        return;
    }
    group->node = NULL;
    group->client->node_bytes -= node->bytes;
    oc_ring_close(node->ring);
    oc_segment_close(node->segment);
    free(node->ranks);
    free(node->hosts);
    free(node->leaders);
    free(node->sources);
    free(node);
}

/* Places of multicast have one size, whatever is set. */
static void explain_lack(const oc_group_t *group, size_t bytes, char *error, size_t error_size)
{
    const oc_client_t *client = group->client;
    char advice[128] = "coll_optcast_multicast_receiver to \"rank\"";

    if (!is_cast(group)) {
        snprintf(advice, sizeof(advice), "coll_optcast_window below %d or coll_optcast_chunk_size below %zu",
                 client->config.settings->window,
                 oc_settings_largest_chunk(client->config.settings));
    }
    snprintf(error, error_size, "other communicators have %zu of the %u bytes of memory that a process shares, "
             "and this one needs %zu; free communicators, or set %s", client->node_bytes, MAX_NODE_BYTES,
             bytes, advice);
}

static bool make_segment(oc_group_t *group, char *error, size_t error_size)
{
    oc_client_t *client = group->client;
    oc_ring_shape_t shape = place_shape_of(group);
    size_t bytes = oc_ring_segment_size(&shape);

    if (NULL == group->node) {
        group->node = calloc(1, sizeof(*group->node));
    }
    if (NULL == group->node) {
        snprintf(error, error_size, "out of memory");
        return false;
    }
    if (client->node_bytes + bytes > MAX_NODE_BYTES) {
        explain_lack(group, bytes, error, error_size);
        return false;
    }
    if ((NULL == client->bell && OC_OK != oc_doorbell_open(&client->bell, error, error_size))
        || OC_OK != oc_segment_create(bytes, &group->node->segment, error, error_size)) {
        return false;
    }
    group->node->bytes = bytes;
    client->node_bytes += bytes;
    return true;
}

void oc_place_offer(oc_group_t *group, uint64_t host, oc_offer_t *offer)
{
    char *error = group->setup->unshared;

    offer->node = 0 != group->params.node ? group->params.node : host;
    /* of one host multicast serves nothing but tests, which are about its datagrams */
    if (!group->params.shares_host || !place_is_wanted(group)
        || (is_cast(group) && group->params.max_hosts < 2)) {
        return;
    }
    if (!make_segment(group, error, sizeof(group->setup->unshared))) {
        offer->shares = OC_SHARES_FAILED;
        oc_node_free(group);
        return;
    }
    oc_segment_name(group->node->segment, offer->segment);
    oc_doorbell_name(group->client->bell, offer->bell);
    offer->shares = OC_SHARES_MEMORY;
}

/* Records that make no sense offer nothing; they are for others to judge. */
static void offer_of(const oc_group_t *group, uint32_t rank, oc_offer_t *offer)
{
    oc_record_t record;

    if (is_cast(group)) {
        oc_multicast_offer(group->setup->records + (size_t) rank * OC_MULTICAST_RECORD_SIZE, offer);
    } else {
        (void) oc_record_of(group, rank, &record);
        *offer = record.offer;
    }
}

static void hosts_free(host_t *hosts)
{
    host_t *host, *next;

    HASH_ITER (hh, hosts, host, next) {
        HASH_DEL(hosts, host);
        free(host);
    }
}

static host_t *host_find(host_t **hosts, uint64_t node)
{
    host_t *host;

    HASH_FIND(hh, *hosts, &node, sizeof(node), host);
    if (NULL == host) {
        host = calloc(1, sizeof(*host));
        if (NULL == host) {
            return NULL;
        }
        host->node = node;
        host->number = HASH_COUNT(*hosts);
        host->shares = true;
        HASH_ADD(hh, *hosts, node, sizeof(host->node), host);
    }
    return host;
}

/* Hosts by lowest rank, and this host's ranks by rank. */
static bool find_hosts(oc_group_t *group, host_t **hosts)
{
    oc_node_t *node = group->node;
    oc_offer_t own, offer;

    offer_of(group, group->params.rank, &own);
    for (uint32_t rank = 0; rank < group->params.num_ranks; rank++) {
        host_t *host;

        offer_of(group, rank, &offer);
        host = host_find(hosts, offer.node);
        if (NULL == host) {
            return false;
        }
        node->hosts[rank] = host->number;
        if (0 == host->members) {
            node->leaders[host->number] = rank;
        }
        host->members++;
        host->shares = host->shares && OC_SHARES_MEMORY == offer.shares;
        node->most = host->members > node->most ? host->members : node->most;
        if (offer.node == own.node) {
            node->host = host->number;
            node->self = rank == group->params.rank ? node->num_members : node->self;
            node->ranks[node->num_members++] = rank;
        }
    }
    node->num_hosts = HASH_COUNT(*hosts);
    return true;
}

static bool all_share(const host_t *hosts)
{
    const host_t *host;

    for (host = hosts; NULL != host; host = host->hh.next) {
        if (host->members > 1 && !host->shares) {
            return false;
        }
    }
    return true;
}

/* Whether any rank offers memory. The first one that cannot says why. */
static bool look_for_offers(oc_group_t *group)
{
    bool wanted = false, failed = false;
    oc_offer_t offer;

    for (uint32_t rank = 0; rank < group->params.num_ranks; rank++) {
        offer_of(group, rank, &offer);
        wanted = wanted || OC_SHARES_MEMORY == offer.shares;
        if (OC_SHARES_FAILED == offer.shares && !failed) {
            failed = true;
            if (rank == group->params.rank) {
                oc_place_tell(group);
            }
        }
    }
    return wanted;
}

static bool make_node(oc_group_t *group)
{
    if (NULL == group->node) {
        group->node = calloc(1, sizeof(*group->node));
    }
    if (NULL == group->node) {
        return false;
    }
    group->node->ranks = calloc(group->params.num_ranks, sizeof(*group->node->ranks));
    group->node->hosts = calloc(group->params.num_ranks, sizeof(*group->node->hosts));
    group->node->leaders = calloc(group->params.num_ranks, sizeof(*group->node->leaders));
    return NULL != group->node->ranks && NULL != group->node->hosts && NULL != group->node->leaders;
}

/* Out of memory is no reason for another shape than the others have: it is for the vote to say. */
bool oc_place_find(oc_group_t *group)
{
    bool wanted, found;
    host_t *hosts = NULL;

    if (!place_is_wanted(group) || !look_for_offers(group)) {
        return false;
    }
    found = make_node(group) && find_hosts(group, &hosts);
    wanted = !found
             || (group->node->most > 1 && all_share(hosts)
                 && (!is_cast(group) || group->node->num_hosts > 1));
    hosts_free(hosts);
    if (!found) {
        oc_node_free(group);
    }
    return wanted;
}

/* Of a rank that is alone on its host nobody else needs anything. */
static bool get_segment(oc_group_t *group, uint32_t member, oc_ring_member_t *to, char *error,
                        size_t error_size)
{
    oc_node_t *node = group->node;
    oc_offer_t offer;

    if (member == node->self) {
        if (NULL == node->segment && !make_segment(group, error, error_size)) {
            return false;
        }
        to->segment = node->segment;
        node->segment = NULL;
        return true;
    }
    offer_of(group, node->ranks[member], &offer);
    memcpy(to->bell, offer.bell, OC_DOORBELL_NAME_SIZE);
    if (OC_OK != oc_doorbell_find(offer.bell)) {
        snprintf(error, error_size, "rank %u of this host cannot be woken", node->ranks[member]);
        return false;
    }
    return OC_OK == oc_segment_attach(offer.segment, &to->segment, error, error_size);
}

/* Gives the segments to the ring. OC_ERR_UNREACHABLE: one of them cannot be had, error says why. */
static oc_status_t make_ring(oc_group_t *group, oc_ring_member_t *members, char *error,
                             size_t error_size)
{
    oc_ring_shape_t shape = place_shape_of(group);
    oc_node_t *node = group->node;
    oc_status_t status = OC_OK;

    for (uint32_t i = 0; i < node->num_members; i++) {
        if (!get_segment(group, i, &members[i], error, error_size)) {
            status = OC_ERR_UNREACHABLE;
            break;
        }
    }
    if (OC_OK != status) {
        for (uint32_t i = 0; i < node->num_members; i++) {
            oc_segment_close(members[i].segment);
        }
        return status;
    }
    status = oc_ring_open(&shape, members, node->num_members, node->self, group->client->bell,
                          &node->ring);
    if (OC_OK != status) {
        snprintf(error, error_size, "the memory that %u ranks of this host share: %s",
                 node->num_members, oc_status_string(status));
    }
    return status;
}

oc_status_t oc_place_attach(oc_group_t *group, char *error, size_t error_size)
{
    oc_node_t *node = group->node;
    oc_ring_member_t *members = NULL;
    oc_status_t status;

    if (NULL != node) {
        members = calloc(node->num_members, sizeof(*members));
        node->sources = calloc(node->num_members, sizeof(*node->sources));
    }
    if (NULL == members || NULL == node->sources) {
        snprintf(error, error_size, "out of memory");
        free(members);
        return OC_ERR_NO_MEMORY;
    }
    status = make_ring(group, members, error, error_size);
    free(members);
    return status;
}

void oc_place_take(oc_group_t *group)
{
    const oc_node_t *node = group->node;

    oc_ring_hide(node->ring);
    if (is_cast(group)) {
        return;
    }
    /* a host with fewer ranks than another one has several teams for each */
    group->servers->teams = (oc_teams_t) {
        .count = node->most, .first = node->self, .step = node->num_members,
        .own = (node->most - node->self + node->num_members - 1) / node->num_members,
        .num_ranks = node->num_hosts, .rank = node->host};
}

/*
 * As many steps as keep all links busy while their neighbours are copied. Servers give memory to a
 * window of chunks as soon as all have begun: it is no larger than what the steps can fill.
 */
void oc_place_limit(oc_group_t *group, unsigned aggregators)
{
    unsigned window = (unsigned) group->client->config.settings->window;
    unsigned places = place_shape_of(group).capacity;
    unsigned lanes = aggregators * group->servers->teams.count;

    if (NULL == group->node) {
        return;
    }
    places = 2 * aggregators * window < places ? 2 * aggregators * window : places;
    oc_ring_limit(group->node->ring, places);
    places = (places + lanes - 1) / lanes;
    group->servers->teams.window = places < window ? places : window;
}
