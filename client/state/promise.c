/* SPDX-License-Identifier: BSD-3-Clause */
/* Shares of what a process keeps. */
#include "client/state/promise.h"

void oc_promise_agree(oc_group_t *group, uint64_t bytes)
{
    group->client->kept_promised += bytes - group->servers->kept_most;
    group->servers->kept_most = bytes;
}

uint64_t oc_promise_offer(oc_group_t *group)
{
    uint64_t part = (OC_KEPT_TOTAL - group->client->kept_promised) / 8;

    oc_promise_agree(group, part < OC_KEPT_BYTES ? part : OC_KEPT_BYTES);
    return group->servers->kept_most;
}

void oc_promise_end(oc_group_t *group)
{
    oc_promise_agree(group, 0);
}
