/* SPDX-License-Identifier: BSD-3-Clause */
/* What the model has to know, from the ranks' records and, before there are any, from settings. */
#include "client/setup/choose.h"

#include <stdlib.h>
#include <string.h>

#include "client/servers/presence.h"
#include "client/servers/servers.h"
#include "client/servers/targets.h"
#include "client/state/record.h"
#include "client/state/setup_state.h"

static int choose_compare(const void *a, const void *b)
{
    uint64_t left = *(const uint64_t *) a, right = *(const uint64_t *) b;

    return (left > right) - (left < right);
}

/* Also in the flat shape, which needs no hosts otherwise. Allocates nothing: it must not fail. */
static void count_hosts(const oc_group_t *group, oc_situation_t *situation)
{
    uint64_t *nodes = group->setup->nodes;
    uint32_t members = 0;
    oc_record_t record;

    for (uint32_t rank = 0; rank < group->params.num_ranks; rank++) {
        (void) oc_record_of(group, rank, &record);
        nodes[rank] = record.offer.node;
    }
    qsort(nodes, group->params.num_ranks, sizeof(*nodes), choose_compare);
    for (uint32_t i = 0; i < group->params.num_ranks; i++) {
        members = i > 0 && nodes[i - 1] == nodes[i] ? members + 1 : 1;
        situation->hosts += 1 == members;
        situation->per_host = members > situation->per_host ? members : situation->per_host;
    }
}

/* The slowest that is known; RDMA if anybody has it, since Open MPI is better at that. */
static void find_network(const oc_group_t *group, oc_situation_t *situation)
{
    oc_network_t *network = &situation->network;
    oc_record_t record;

    for (uint32_t rank = 0; rank < group->params.num_ranks; rank++) {
        (void) oc_record_of(group, rank, &record);
        if (0 != record.network.rate
            && (0 == network->rate || record.network.rate < network->rate)) {
            network->rate = record.network.rate;
        }
        if (record.network.fabric > network->fabric) {
            network->fabric = record.network.fabric;
        }
    }
}

/* Some ranks may have gone elsewhere with what is smaller, before they met. */
static void clip(oc_sizes_t *sizes, uint64_t least)
{
    oc_sizes_t all = *sizes;

    *sizes = (oc_sizes_t) {0};
    for (uint64_t i = 0; i < all.count; i++) {
        if (all.ranges[i].last >= least) {
            sizes->ranges[sizes->count] = all.ranges[i];
            if (all.ranges[i].first < least) {
                sizes->ranges[sizes->count].first = least;
            }
            sizes->count++;
        }
    }
}

/* Whether anything is offloaded of what will come. */
static bool choose_sizes(oc_group_t *group)
{
    const oc_group_params_t *params = &group->params;
    oc_group_servers_t *servers = group->servers;
    bool any = false;

    for (unsigned ruled = 0; ruled < OC_NUM_RULED; ruled++) {
        oc_choice_t *choice = &servers->choices[ruled];

        oc_model_choose(params->rules, &servers->situation, (oc_ruled_t) ruled, choice);
        clip(&choice->sizes, params->least[ruled]);
        clip(&choice->wide, params->least[ruled]);
        any = any || choice->sizes.count > 0;
    }
    servers->chosen = true;
    return any
           && (0 == params->only_bytes
               || !oc_choice_leaves(&servers->choices[params->only_ruled], params->only_type,
                                    params->only_bytes));
}

bool oc_group_choose(oc_group_t *group)
{
    const oc_client_t *client = group->client;
    const oc_job_settings_t *settings = client->config.settings;
    oc_group_servers_t *servers = group->servers;
    bool tree = 0 != servers->branch.leaves;
    uint64_t weights, heaviest;
    uint32_t peers;

    if (NULL == group->params.rules) {
        return true;
    }
    peers = tree ? 0 : oc_targets_count_peers(group);
    oc_presence_weigh(group, &weights, &heaviest);
    servers->situation = (oc_situation_t) {
        .ranks = group->params.num_ranks, .weights = weights, .heaviest = heaviest, .peers = peers,
        .nodes = NULL != group->node, .lanes = oc_presence_count(group) + peers,
        .small_size = settings->small_size, .largest_chunk = oc_settings_largest_chunk(settings),
        .fewest_chunks = oc_settings_fewest_chunks(settings), .tree = tree,
        .in_order = OC_REPRODUCIBLE_RANK_ORDER == settings->reproducible,
        .paired = OC_BESIDE_ALLGATHER == group->hints.reduce_scatter_beside};
    memcpy(servers->situation.previous, group->params.rules->previous,
           sizeof(servers->situation.previous));
    find_network(group, &servers->situation);
    count_hosts(group, &servers->situation);
    return choose_sizes(group);
}

void oc_outlook_make(const oc_job_settings_t *settings, uint32_t hosts,
                     const oc_network_t *network, oc_outlook_t *outlook)
{
    const char *text = NULL != settings->servers ? settings->servers : "";
    oc_server_list_t list = {0};
    char error[OC_REASON_SIZE];
    unsigned number;
    bool on_hosts;
    oc_status_t status = oc_embedded_parse(text, &on_hosts, &number, error, sizeof(error));

    if (OC_DECLINED == status) {
        status = oc_server_list_parse(text, &list, error, sizeof(error));
    }
    *outlook = (oc_outlook_t) {
        .hosts = hosts, .network = *network, .servers = list.count, .unclear = OC_OK != status,
        .peers = OC_PEERS_AUTO == settings->peer_aggregation,
        .nodes = OC_REPRODUCIBLE_SHAPE == settings->reproducible,
        .in_order = OC_REPRODUCIBLE_RANK_ORDER == settings->reproducible,
        .small_size = settings->small_size, .largest_chunk = oc_settings_largest_chunk(settings),
        .fewest_chunks = oc_settings_fewest_chunks(settings)};
    oc_server_list_weigh(&list, &outlook->weights, &outlook->heaviest);
    oc_server_list_free(&list);
}
