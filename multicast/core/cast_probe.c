/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Does the network carry multicast from every rank to every other? Each rank sends some probes, as
 * large as fragments: where these are too large, small ones would arrive. They all go to all, so
 * ranks take turns. Of whom it has heard none it asks for one, point to point; when many were sent
 * on request and none arrived, the network does not carry them. A rank that does not answer may be
 * elsewhere.
 */
#include "multicast/core/cast_probe.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "multicast/core/deliver.h"
#include "multicast/core/fail.h"
#include "multicast/core/post.h"
#include "multicast/core/route.h"

#define PROBE_RATE      (1000000000u / 8)   /* bytes a second that all of them send together */
#define UNSOLICITED     6
#define FIRST_INTERVAL  (2 * OC_MILLISECOND)
#define ASK_INTERVAL    (25 * OC_MILLISECOND)
#define MAX_INTERVAL    (10 * OC_SECOND)    /* while nobody answers */
#define MAX_ANSWERS     30

/* ns for one rank's probe. */
static uint64_t share(const oc_cast_group_t *group)
{
    return group->config.datagram_size * OC_SECOND / PROBE_RATE;
}

oc_status_t oc_probe_begin(oc_cast_group_t *group, uint64_t now)
{
    oc_probe_t *probe = &group->probe;
    uint32_t count = group->config.num_ranks;
    uint64_t round = count * share(group);

    probe->padding = group->config.second ? NULL : calloc(1, group->payload);
    probe->heard = calloc(count, sizeof(*probe->heard));
    probe->answers = calloc(count, 1);
    probe->asks = calloc(count, 1);
    if ((NULL == probe->padding && !group->config.second) || NULL == probe->heard
        || NULL == probe->answers || NULL == probe->asks) {
        return OC_ERR_NO_MEMORY;
    }
    probe->heard[group->config.rank] = true;
    probe->missing = count - 1;
    probe->next = now + group->config.rank * share(group);
    probe->interval = round > FIRST_INTERVAL ? round : FIRST_INTERVAL;
    probe->pause = ASK_INTERVAL;
    probe->ask_at = now + ASK_INTERVAL + round;
    if (group->config.second) {
        memset(probe->heard, true, count * sizeof(*probe->heard));
        probe->missing = 0;
        probe->over = true;
    }
    return OC_OK;
}

void oc_probe_end(oc_cast_group_t *group)
{
    free(group->probe.padding);
    free(group->probe.heard);
    free(group->probe.answers);
    free(group->probe.asks);
    group->probe.heard = NULL;
    group->probe.padding = group->probe.answers = group->probe.asks = NULL;
}

/* Somebody has come: the others may be about to. */
static void note_news(oc_probe_t *probe)
{
    probe->silence = 0;
    probe->pause = ASK_INTERVAL;
    probe->ask_soon = true;
}

void oc_probe_heard(oc_cast_group_t *group, uint32_t rank)
{
    oc_probe_t *probe = &group->probe;

    note_news(probe);
    if (probe->heard[rank]) {
        return;
    }
    /* who comes late has heard nobody; one probe does for all that come at about the same time */
    if (UNSOLICITED == probe->sent) {
        probe->sent--;
        probe->next = group->stepped + ASK_INTERVAL;
    }
    assert(probe->missing > 0 && rank != group->config.rank);
    probe->heard[rank] = true;
    probe->missing--;
}

/* false: the network has no room now. */
static bool cast_probe(oc_cast_group_t *group)
{
    oc_datagram_t datagram = {
        .kind = OC_DATAGRAM_PROBE, .token = group->config.token, .rank = group->config.rank,
        .length = (uint16_t) group->payload};
    oc_outgoing_t outgoing = {.payload = group->probe.padding, .length = group->payload};

    oc_datagram_encode(&datagram, outgoing.header);
    oc_cast_seal_datagram(group->seal, 0, &datagram, outgoing.payload,
                          outgoing.header);
    return 1 == group->config.net.cast(group->config.net.context, &outgoing, 1);
}

/* Who asked is only told of probes that were really sent: others may keep the network busy. */
static void cast_probe_answer(oc_cast_group_t *group)
{
    oc_probe_t *probe = &group->probe;

    if (0 == probe->askers || !cast_probe(group)) {
        return;
    }
    for (uint32_t rank = 0; probe->askers > 0 && rank < group->config.num_ranks; rank++) {
        if (probe->asks[rank]) {
            probe->asks[rank] = 0;
            probe->askers--;
            oc_cast_post_plain(group, rank, OC_CAST_PROBE_SENT);
        }
    }
}

static void cast_probe_give_up(oc_cast_group_t *group, uint32_t rank)
{
    char reason[OC_CAST_REASON_SIZE];

    snprintf(reason, sizeof(reason), "no multicast datagram of rank %u reaches rank %u: the "
             "network between them does not carry multicast", rank, group->config.rank);
    oc_cast_group_fail(group, OC_ERR_UNREACHABLE, reason);
}

/*
 * As long as not even one probe has left, the network may not have joined this rank yet: then
 * nothing can reach it, and what others have sent meanwhile tells nothing.
 */
static bool can_hear(const oc_probe_t *probe, uint32_t rank)
{
    return !probe->heard[rank] && probe->sent > 0;
}

void oc_probe_message(oc_cast_group_t *group, const oc_cast_message_t *message, bool fresh)
{
    oc_probe_t *probe = &group->probe;

    if (!fresh || group->config.second) {
        return; /* answers are counted, and a second group has nothing to ask */
    }
    note_news(probe);
    if (OC_CAST_PROBE_REQUEST == message->kind) {
        probe->askers += !probe->asks[message->rank];
        probe->asks[message->rank] = 1;
    } else if (can_hear(probe, message->rank)
               && ++probe->answers[message->rank] == MAX_ANSWERS) {
        cast_probe_give_up(group, message->rank);
    }
}

/*
 * Of those that are not known one more is looked for each time: if the network carries no
 * multicast, neighbours find that out, and who is late need not be looked for by all at once.
 */
static void find_stranger(oc_cast_group_t *group)
{
    oc_probe_t *probe = &group->probe;

    for (uint32_t i = 0; i < group->config.num_ranks; i++) {
        uint32_t rank = probe->stranger++ % group->config.num_ranks;

        if (!probe->heard[rank] && !oc_cast_knows(group, rank)) {
            oc_cast_route_find(group, rank);
            return;
        }
    }
}

static void ask_missing(oc_cast_group_t *group)
{
    for (uint32_t rank = 0; rank < group->config.num_ranks; rank++) {
        if (!group->probe.heard[rank]) {
            oc_cast_post_plain(group, rank, OC_CAST_PROBE_REQUEST);
        }
    }
    find_stranger(group);
}

static bool times_out(oc_cast_group_t *group, uint64_t step)
{
    oc_probe_t *probe = &group->probe;
    char reason[OC_CAST_REASON_SIZE];
    uint32_t rank = 0;

    probe->silence += step;
    if (0 == group->config.probe_timeout || probe->silence < group->config.probe_timeout) {
        return false;
    }
    while (probe->heard[rank]) {
        rank++;
    }
    snprintf(reason, sizeof(reason), "rank %u has not answered rank %u for %u seconds", rank,
             group->config.rank, (unsigned) (group->config.probe_timeout / OC_SECOND));
    oc_cast_group_fail(group, OC_ERR_TIMEOUT, reason);
    return true;
}

static void after_unsolicited(oc_probe_t *probe, bool taken, uint64_t now)
{
    if (!taken) {
        probe->next = now + OC_SEND_RETRY;
        return;
    }
    probe->sent++;
    if (probe->sent < UNSOLICITED) {
        probe->next = now + probe->interval;
        probe->interval *= 2;
    }
}

uint64_t oc_probe_progress(oc_cast_group_t *group, uint64_t now, uint64_t step)
{
    oc_probe_t *probe = &group->probe;
    uint64_t due = UINT64_MAX;

    cast_probe_answer(group);
    if (probe->askers > 0) {
        due = now + OC_SEND_RETRY;
    }
    if (probe->sent < UNSOLICITED && !probe->over) {
        if (now >= probe->next) {
            after_unsolicited(probe, cast_probe(group), now);
        }
        due = probe->next < due ? probe->next : due;
    }
    if (0 == probe->missing || times_out(group, step)) {
        return due;
    }
    if (probe->ask_soon && probe->ask_at > now + ASK_INTERVAL) {
        probe->ask_at = now + ASK_INTERVAL;
    }
    probe->ask_soon = false;
    if (now >= probe->ask_at) {
        ask_missing(group);
        probe->ask_at = now + probe->pause;
        probe->pause = 2 * probe->pause < MAX_INTERVAL ? 2 * probe->pause : MAX_INTERVAL;
    }
    if (0 != group->config.probe_timeout && due > now + OC_CAST_MAX_STEP) {
        due = now + OC_CAST_MAX_STEP; /* or silence would not be counted */
    }
    return probe->ask_at < due ? probe->ask_at : due;
}
