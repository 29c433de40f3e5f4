/* SPDX-License-Identifier: BSD-3-Clause */
/* Votes about floods: one rank that sees one is enough to decline, or else one that sees none. */
#include "client/setup/flooding.h"

#include "client/group/cast_group.h"
#include "client/state/setup_state.h"

void oc_flooding_look(oc_group_t *group)
{
    oc_setup_t *setup = group->setup;
    char text[OC_REASON_SIZE];

    setup->flood_tested = true;
    setup->flood = oc_group_cast_flood_end(group, text, sizeof(text));
    if (OC_FLOOD_FLOODED == setup->flood) {
        oc_setup_give_up(group, "%s", text);
    }
}

int64_t oc_flooding_vote(const oc_group_t *group)
{
    switch (group->setup->flood) {
    case OC_FLOOD_GUARDED:
        return OC_VOTE_NO_FLOOD;
    case OC_FLOOD_UNKNOWN:
        return OC_VOTE_NOT_SEEN;
    default:
        return OC_VOTE_YES;
    }
}

bool oc_flooding_is_excluded(oc_group_t *group, int64_t outcome, char *reason, size_t size)
{
    oc_client_t *client = group->client;

    if (OC_VOTE_NO_FLOOD == outcome) {
        oc_group_cast_flood_note(group, OC_FLOOD_GUARDED);
        return true;
    }
    if (OC_VOTE_YES == outcome) {
        oc_group_cast_flood_note(group, OC_FLOOD_BLIND);
    }
    group->tells = 0 == group->params.rank && !client->told_blind;
    client->told_blind = client->told_blind || group->tells;
    oc_multicast_explain_flood(OC_FLOOD_BLIND, reason, size);
    return false;
}
