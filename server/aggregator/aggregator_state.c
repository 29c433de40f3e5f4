/* SPDX-License-Identifier: BSD-3-Clause */
/* What an aggregator has beside its thread: how it comes, and how it goes. */
#include "server/aggregator/aggregator_state.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/check.h"
#include "server/aggregator/aggregator_check.h"
#include "server/aggregator/server_codes.h"
#include "server/aggregator/server_groups.h"
#include "server/aggregator/server_peers.h"
#include "server/aggregator/requests.h"

static void aggregator_state_open_timeline(oc_aggregator_t *aggregator)
{
    char host[64] = "", name[128];

    (void) gethostname(host, sizeof(host) - 1);
    snprintf(name, sizeof(name), "server-%s-%d-%u", host, (int) getpid(),
             aggregator->config.index);
    aggregator->timeline = oc_timeline_open(aggregator->config.timeline, name,
                                            OC_TIMELINE_SERVER);
}

static oc_status_t aggregator_state_open_worker(oc_aggregator_t *aggregator, char *error,
                                                size_t error_size)
{
    oc_status_t status = oc_worker_open(aggregator->config.net_devices, &aggregator->worker, error,
                                        error_size);

    if (OC_OK == status && NULL != aggregator->config.admission) {
        oc_worker_guard(aggregator->worker, aggregator->config.admission);
    }
    return status;
}

static oc_status_t open_inbox(oc_aggregator_t *aggregator, char *error, size_t error_size)
{
    oc_status_t status = oc_mailbox_open(&aggregator->inbox);

    if (OC_OK == status && !oc_tag_table_open(&aggregator->early)) {
        status = OC_ERR_NO_MEMORY;
    }
    if (OC_OK != status) {
        snprintf(error, error_size, "cannot start an aggregator: %s", oc_status_string(status));
    }
    return status;
}

oc_status_t oc_aggregator_new(const oc_aggregator_config_t *config, oc_aggregator_t **result,
                              char *error, size_t error_size)
{
    oc_aggregator_t *aggregator = calloc(1, sizeof(*aggregator));
    oc_status_t status;

    if (NULL == aggregator) {
        snprintf(error, error_size, "cannot start an aggregator: out of memory");
        return OC_ERR_NO_MEMORY;
    }
    aggregator->config = *config;
    aggregator->inbox.event_fd = -1;
    oc_pool_open(&aggregator->pool, config->memory_limit);
    oc_stock_open(&aggregator->stock, OC_AGGREGATOR_STOCK);
    aggregator->pool.huge_pages = config->huge_pages;
    aggregator_state_open_timeline(aggregator);
    status = aggregator_state_open_worker(aggregator, error, error_size);
    if (OC_OK == status) {
        status = open_inbox(aggregator, error, error_size);
    }
    if (OC_OK != status) {
        oc_aggregator_free(aggregator);
        return status;
    }
    *result = aggregator;
    return OC_OK;
}

/* Everything in the reverse order of oc_aggregator_new. */
void oc_aggregator_free(oc_aggregator_t *aggregator)
{
    oc_server_group_t *group, *next_group;
    oc_server_peer_t *peer, *next_peer;

    aggregator->stop = true;
    HASH_ITER (hh, aggregator->groups, group, next_group) {
        oc_server_group_drop(aggregator, group->handle);
    }
    HASH_ITER (hh, aggregator->peers, peer, next_peer) {
        oc_server_peer_drop(aggregator, peer->client);
    }
    oc_endpoint_close(aggregator->parent);
    oc_worker_close(aggregator->worker);
    OC_CHECK(oc_aggregator_check_empty(aggregator));
    oc_timeline_close(aggregator->timeline);
    oc_server_codes_close(aggregator);
    oc_requests_free(aggregator);
    oc_pool_close(&aggregator->pool);
    oc_tag_table_close(&aggregator->early);
    oc_stock_trim(&aggregator->stock);
    oc_mailbox_close(&aggregator->inbox);
    free(aggregator);
}
