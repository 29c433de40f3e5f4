/* SPDX-License-Identifier: BSD-3-Clause */
/* What holds between the parts of an aggregator. Each part checks itself. */
#include "server/aggregator/aggregator_check.h"

#include <utlist.h>

#include "server/aggregator/cache.h"
#include "server/aggregator/chunks.h"
#include "server/aggregator/early.h"
#include "server/aggregator/server_reduction.h"
#include "server/aggregator/reserve.h"
#include "server/aggregator/starving.h"

static const char *check_groups(const oc_aggregator_t *aggregator)
{
    const oc_server_group_t *group;
    const char *wrong = NULL;

    for (group = aggregator->groups; NULL == wrong && NULL != group; group = group->hh.next) {
        wrong = oc_reductions_check(group);
        if (NULL == wrong) {
            wrong = oc_chunks_check(group);
        }
        if (NULL == wrong && (group->num_joined > group->num_ranks || group->dropped)) {
            wrong = "a group has more members than ranks, or was dropped";
        }
    }
    return wrong;
}

/* Everything that is used is somebody's. Groups that were dropped are not found until they end. */
static const char *check_memory(const oc_aggregator_t *aggregator)
{
    const oc_server_group_t *group;
    const oc_reduction_t *reduction;
    size_t used = oc_reserve_counted(aggregator);

    for (group = aggregator->groups; NULL != group; group = group->hh.next) {
        DL_FOREACH2 (group->reductions, reduction, group_next) {
            used += oc_chunks_cost(reduction) + oc_pieces_cost(reduction);
        }
    }
    return used == aggregator->pool.used || HASH_COUNT(aggregator->groups) < aggregator->num_groups
               ? NULL : "the pool counts something else than groups and collectives have";
}

const char *oc_aggregator_check(const oc_aggregator_t *aggregator)
{
    const char *const found[] = {
        oc_pool_check(&aggregator->pool), oc_stock_check(&aggregator->stock),
        oc_tag_table_check(&aggregator->early), oc_cache_check(aggregator),
        oc_early_check(aggregator), oc_starving_check(aggregator), oc_reserve_check(aggregator),
        check_groups(aggregator), check_memory(aggregator)};

    for (size_t i = 0; i < sizeof(found) / sizeof(found[0]); i++) {
        if (NULL != found[i]) {
            return found[i];
        }
    }
    return NULL;
}

const char *oc_aggregator_check_empty(const oc_aggregator_t *aggregator)
{
    if (aggregator->num_groups > 0 || NULL != aggregator->groups) {
        return "a group has not ended";
    }
    if (NULL != aggregator->starving || NULL != aggregator->owed || NULL != aggregator->caches) {
        return "a group that has ended waits for memory, or may lose some";
    }
    if (0 != aggregator->unasked || 0 != aggregator->reserve.groups
        || 0 != aggregator->reserve.lent) {
        return "a group that has ended has something of the reserve, or of the window above";
    }
    return oc_aggregator_check(aggregator);
}
