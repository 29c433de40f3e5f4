/* SPDX-License-Identifier: BSD-3-Clause */
/* Flood tests of groups that are being set up. */
#include "multicast/service/flood_service.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <unistd.h>
#include <utlist.h>

#include "base/clock.h"
#include "multicast/transport/cast_address.h"

/* How often those are looked at whose descriptors found no room. */
#define CROWDED (1 * OC_MILLISECOND)

/* Who was elsewhere so often will be again: no more communicators are to wait for another test. */
#define MOST_TRIES 3u

bool oc_flood_begin(oc_cast_member_t *member, oc_flood_role_t role)
{
    oc_multicast_t *multicast = member->multicast;
    const oc_cast_transports_t *transports = &multicast->transports;
    const oc_job_settings_t *settings = transports->settings;
    oc_flood_place_t place = {
        .interface = transports->interfaces[member->carrier],
        .probes = oc_multicast_trial(&transports->range, member->token),
        .marks = oc_multicast_spare(&transports->range, 1),
        .port = (uint16_t) settings->multicast_port, .token = member->token};

    /* whose interface is not known does not look */
    member->flood = oc_flood_test_new(&place, 0 == place.interface.index ? OC_FLOOD_IDLE
                                                                         : role,
                                      multicast->job_key);
    if (NULL == member->flood) {
        return false;
    }
    DL_APPEND(multicast->floods, member->flood);
    return true;
}

void oc_flood_drop(oc_cast_member_t *member)
{
    if (NULL != member->flood) {
        DL_DELETE(member->multicast->floods, member->flood);
        oc_flood_test_free(member->flood);
        member->flood = NULL;
    }
}

void oc_multicast_explain_flood(oc_flood_verdict_t verdict, char *text, size_t text_size)
{
    if (OC_FLOOD_FLOODED == verdict) {
        snprintf(text, text_size, "the network delivers multicast to hosts that have not joined");
    } else {
        snprintf(text, text_size,
                 "no host can tell whether the network delivers multicast only to those who join, "
                 "so it is not used, though it about halves what an Allgather puts on the network: "
                 "if it is allowed (doc/multicast.md, \"What the network has to offer\"), set "
                 "coll_optcast_multicast to udp, or verbs for RoCE");
    }
}

/* What this host sees, with what there is to know for mending it. */
static void explain_sight(const oc_cast_member_t *member, char *text, size_t text_size)
{
    const oc_flood_place_t *place = &member->flood->place;
    char host[65] = "", address[INET_ADDRSTRLEN];

    (void) gethostname(host, sizeof(host) - 1);
    inet_ntop(AF_INET, &place->probes, address, sizeof(address));
    snprintf(text, text_size,
             "the network delivers multicast to hosts that have not joined: %s sees on %s what is "
             "sent to %s, so IGMP snooping is off or has no querier (doc/multicast.md, \"What the "
             "network has to offer\"); coll_optcast_multicast=%s uses multicast all the same",
             host, place->interface.name, address, oc_carrier_name(member->carrier));
}

static oc_cast_member_t *tested_member(const oc_multicast_t *multicast,
                                       const oc_cast_group_t *group)
{
    oc_cast_member_t *member = oc_cast_member_of(multicast, group);

    return NULL != member && NULL != member->flood ? member : NULL;
}

static void flood_remember(oc_multicast_t *multicast, oc_carrier_t carrier, oc_flood_verdict_t verdict)
{
    oc_flood_verdict_t *known = &multicast->transports.carriers[carrier].record.flood;

    *known = verdict > *known ? verdict : *known;
}

bool oc_multicast_flood_is_sent(oc_multicast_t *multicast, const oc_cast_group_t *group,
                                uint64_t now)
{
    const oc_cast_member_t *member = tested_member(multicast, group);

    return NULL == member || oc_flood_test_is_sent(member->flood, now);
}

oc_flood_verdict_t oc_multicast_flood_end(oc_multicast_t *multicast, const oc_cast_group_t *group,
                                          char *text, size_t text_size)
{
    oc_cast_member_t *member = tested_member(multicast, group);
    oc_flood_verdict_t verdict;

    if (NULL == member) {
        return OC_FLOOD_BLIND;
    }
    verdict = oc_flood_test_verdict(member->flood);
    if (OC_FLOOD_FLOODED == verdict) {
        explain_sight(member, text, text_size);
    }
    oc_flood_drop(member);
    if (OC_FLOOD_UNKNOWN == verdict && ++multicast->flood_tries >= MOST_TRIES) {
        verdict = OC_FLOOD_BLIND;
    }
    if (verdict > OC_FLOOD_BLIND) {
        flood_remember(multicast, member->carrier, verdict);
    }
    return verdict;
}

void oc_multicast_flood_note(oc_multicast_t *multicast, const oc_multicast_terms_t *terms,
                             oc_flood_verdict_t verdict)
{
    flood_remember(multicast, (oc_carrier_t) terms->carrier, verdict);
}

/* What is sent for others to watch would be noise to tests of groups, on which something depends. */
static bool has_to_wait(const oc_multicast_t *multicast, const oc_flood_test_t *test)
{
    return test == multicast->show && NULL != multicast->floods->next;
}

void oc_floods_progress(oc_multicast_t *multicast)
{
    oc_flood_test_t *test;

    DL_FOREACH (multicast->floods, test) {
        if (!has_to_wait(multicast, test)) {
            oc_flood_test_progress(test, multicast->now);
        }
    }
}

int oc_floods_sleep(oc_multicast_t *multicast, struct pollfd *fds, uint64_t now,
                    uint64_t *timeout)
{
    oc_flood_test_t *test;
    int count = 0;

    DL_FOREACH (multicast->floods, test) {
        uint64_t due = oc_flood_test_due(test), wait = UINT64_MAX;

        if (has_to_wait(multicast, test)) {
            continue;
        }
        if (UINT64_MAX != due) {
            wait = due > now ? due - now : 0;
        } else if (oc_flood_test_fd(test) >= 0 && OC_MULTICAST_FLOOD_FDS == count) {
            wait = CROWDED;
        } else if (oc_flood_test_fd(test) >= 0) {
            fds[count++] = (struct pollfd) {.fd = oc_flood_test_fd(test), .events = POLLIN};
        }
        *timeout = wait < *timeout ? wait : *timeout;
    }
    return count;
}
