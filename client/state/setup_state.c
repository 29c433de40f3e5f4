/* SPDX-License-Identifier: BSD-3-Clause */
/* What a group remembers while it is being set up. */
#include "client/state/setup_state.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <utlist.h>

void oc_setup_free(oc_setup_t *setup)
{
    free(setup->records);
    free(setup->contacts);
    free(setup->leaders);
    free(setup->nodes);
    free(setup);
}

void oc_setup_drop(oc_group_t *group)
{
    oc_readiness_end(group->setup->readiness);
    oc_multicast_release(group->client->multicast, group->setup->own_address);
    oc_setup_free(group->setup);
    group->setup = NULL;
    DL_DELETE2(group->client->setups, group, setup_prev, setup_next);
    group->client->cast_setups -= OC_SERVICE_MULTICAST == group->params.service;
    atomic_fetch_sub(&group->client->pending, 1);
}

void oc_setup_give_up(oc_group_t *group, const char *format, ...)
{
    va_list args;

    if (oc_setup_has_given_up(group)) {
        return;
    }
    va_start(args, format);
    vsnprintf(group->setup->reason, sizeof(group->setup->reason), format, args);
    va_end(args);
}

void oc_setup_upset(oc_group_t *group, const char *reason)
{
    if (!oc_setup_has_given_up(group)) {
        oc_setup_give_up(group, "%s", reason);
        group->setup->upset = true;
    }
}

bool oc_setup_has_given_up(const oc_group_t *group)
{
    return '\0' != group->setup->reason[0];
}
