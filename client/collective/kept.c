/* SPDX-License-Identifier: BSD-3-Clause */
/* Lists of results. */
#include "client/collective/kept.h"

#include <string.h>
#include <utlist.h>

#include "client/state/loss.h"

static void kept_give(oc_group_t *group, oc_kept_t **list)
{
    oc_kept_t *kept = *list;

    DL_DELETE(*list, kept);
    oc_stock_give(&group->client->stock, kept, sizeof(*kept) + kept->bytes);
}

/* Those of a list are in the order in which they ended, which is nearly that of their numbers. */
static oc_kept_t **kept_list_of(const oc_allreduce_t *allreduce)
{
    return &allreduce->base.group->servers->kept[allreduce->args.blocking ? 0 : 1];
}

bool oc_kept_add(const oc_allreduce_t *allreduce, const void *result)
{
    oc_group_t *group = allreduce->base.group;
    oc_kept_t *kept;

    if (NULL != allreduce->base.inner || !oc_group_is_renewable(group)) {
        return true;
    }
    oc_kept_drop(allreduce);
    kept = oc_stock_take(&group->client->stock, sizeof(*kept) + allreduce->bytes);
    if (NULL == kept) {
        return false;
    }
    kept->number = allreduce->number;
    kept->before = allreduce->small_before;
    kept->bytes = allreduce->bytes;
    memcpy(kept->result, result, allreduce->bytes);
    DL_APPEND(*kept_list_of(allreduce), kept);
    return true;
}

/* Whether it was over on all ranks when this one began there. */
static bool is_far_behind(const oc_kept_t *kept, const oc_allreduce_t *allreduce)
{
    const oc_group_t *group = allreduce->base.group;

    return kept->number + OC_KEPT_SPAN <= allreduce->number
           || kept->before + group->servers->kept_most < allreduce->small_before;
}

void oc_kept_drop(const oc_allreduce_t *allreduce)
{
    oc_group_t *group = allreduce->base.group;
    oc_kept_t **kept = group->servers->kept;

    while (NULL != kept[0] && kept[0]->number < allreduce->number) {
        kept_give(group, &kept[0]);
    }
    while (NULL != kept[1] && is_far_behind(kept[1], allreduce)) {
        kept_give(group, &kept[1]);
    }
}

void oc_kept_drop_before(oc_group_t *group, uint64_t number)
{
    oc_kept_t **kept = group->servers->kept;

    for (unsigned i = 0; i < 2; i++) {
        while (NULL != kept[i] && kept[i]->number < number) {
            kept_give(group, &kept[i]);
        }
    }
}

const oc_kept_t *oc_kept_find(const oc_group_t *group, uint64_t number)
{
    const oc_kept_t *kept;

    for (unsigned i = 0; i < 2; i++) {
        DL_FOREACH (group->servers->kept[i], kept) {
            if (number == kept->number) {
                return kept;
            }
        }
    }
    return NULL;
}

void oc_kept_free(oc_group_t *group)
{
    oc_kept_drop_before(group, UINT64_MAX);
}
