/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A flood test for those that are no ranks. It has a token and a key of its own, as its watchers have no
 * part in the group, but the group's address: a switch that prunes passes on to another one what hosts there
 * have joined, and only what the ranks of all hosts have joined comes to wherever data comes. It is among the
 * tests of groups, and moves on with them.
 */
#include <string.h>
#include <sys/random.h>
#include <utlist.h>

#include "base/clock.h"
#include "multicast/service/service.h"
#include "multicast/transport/cast_address.h"

/* Datagrams at a time: nothing depends on the test, and collectives are under way beside it. */
#define MOST_AT_ONCE 8u

uint32_t oc_multicast_flood_hosts(const oc_multicast_t *multicast, const oc_cast_group_t *group)
{
    const oc_cast_member_t *member = NULL == multicast ? NULL : oc_cast_member_of(multicast, group);
    bool floods = NULL != member && member->num_hosts > 1
                  && multicast->transports.carriers[member->carrier].record.floods
                  && 0 != multicast->transports.interfaces[member->carrier].index;

    return floods ? member->num_hosts : 0;
}

static bool show_random(void *bytes, size_t length)
{
    return (ssize_t) length == getrandom(bytes, length, 0);
}

bool oc_multicast_show_begin(oc_multicast_t *multicast, const oc_cast_group_t *group,
                             oc_flood_call_t *call)
{
    const oc_cast_member_t *member = oc_cast_member_of(multicast, group);
    const oc_cast_transports_t *transports = &multicast->transports;
    oc_flood_place_t place;

    if (NULL == member || NULL == member->slot || NULL != multicast->show
        || !show_random(&call->token, sizeof(call->token))
        || !show_random(call->key, sizeof(call->key))) {
        return false;
    }
    call->probes = member->slot->address;
    call->marks = oc_multicast_spare(&transports->range, 1);
    call->port = (uint16_t) transports->settings->multicast_port;
    place = (oc_flood_place_t) {.interface = transports->interfaces[member->carrier],
                                .probes = call->probes, .marks = call->marks,
                                .port = call->port, .token = call->token};
    multicast->show = oc_flood_test_new(&place, OC_FLOOD_SENDER, call->key);
    if (NULL == multicast->show) {
        explicit_bzero(call, sizeof(*call));
        return false;
    }
    multicast->show->sender.most = MOST_AT_ONCE;
    DL_APPEND(multicast->floods, multicast->show);
    return true;
}

bool oc_multicast_show_is_on(const oc_multicast_t *multicast)
{
    return NULL != multicast->show;
}

bool oc_multicast_show_is_over(oc_multicast_t *multicast, uint64_t now)
{
    return NULL == multicast->show || oc_flood_test_is_sent(multicast->show, now);
}

void oc_multicast_show_end(oc_multicast_t *multicast)
{
    if (NULL != multicast->show) {
        DL_DELETE(multicast->floods, multicast->show);
        oc_flood_test_free(multicast->show);
        multicast->show = NULL;
    }
}
