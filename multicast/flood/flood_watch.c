/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Packets say themselves which slot they are of. Counters are read at each mark, and what they have
 * gained since the one before is of the slot in between, unless a mark was lost or held up, or was
 * taken so late that the burst behind it may have come already.
 */
#include "multicast/flood/flood_watch.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/descriptors.h"
#include "base/log.h"
#include "multicast/transport/flood_socket.h"
#include "multicast/transport/watch_counters.h"
#include "multicast/transport/watch_packets.h"

/* From the arrival of a mark until all counters are read: less than OC_FLOOD_LEAD. */
#define PUNCTUAL (6 * OC_MILLISECOND)

/* Packets of a burst that are looked at: a socket that nobody reads for long has room for all. */
#define SAMPLE 4u

#define NO_MARK UINT32_MAX

/* Marks: there are fewer, but anybody may send to their address. */
#define MOST_AT_ONCE 64u

struct oc_flood_watch {
    const oc_flood_place_t *place;
    oc_mac_t *seal;
    int mark_fd;
    int packet_fd;             /* -1: this process may not */
    bool joined;               /* somebody on this host has joined the address of the probes */
    oc_watch_counters_t *counters; /* NULL: there are none */
    oc_flood_gauge_t packets;
    oc_flood_gauge_t gauges[OC_WATCH_COUNTERS];
    uint64_t values[OC_WATCH_COUNTERS]; /* at the last mark … */
    uint32_t marked;           /* … which was this one … */
    uint64_t arrived;          /* … came then … */
    bool punctual;             /* … and was taken in time */
};

static void open_packets(oc_flood_watch_t *watch)
{
    struct in_addr addresses[OC_FLOOD_CONTROLS + 1];
    oc_watch_filter_t filter = {
        .addresses = addresses, .num_addresses = OC_FLOOD_CONTROLS + 1,
        .port = oc_flood_burst_port(watch->place), .byte_at = OC_FLOOD_INDEX_AT, .below = SAMPLE};

    for (uint32_t i = 0; i < OC_FLOOD_CONTROLS; i++) {
        addresses[i] = oc_flood_control(i);
    }
    addresses[OC_FLOOD_CONTROLS] = watch->place->probes;
    watch->packet_fd = oc_watch_packets_open(&watch->place->interface, &filter);
    watch->packets.burst = SAMPLE;
    memset(watch->packets.valid, true, sizeof(watch->packets.valid));
}

oc_flood_watch_t *oc_flood_watch_open(const oc_flood_place_t *place, oc_mac_t *seal)
{
    oc_flood_watch_t *watch = calloc(1, sizeof(*watch));

    if (NULL == watch) {
        return NULL;
    }
    watch->place = place;
    watch->seal = seal;
    watch->packet_fd = -1;
    watch->marked = NO_MARK;
    watch->mark_fd = oc_flood_socket_listen(&place->interface, place->marks, place->port);
    if (watch->mark_fd < 0) {
        oc_info("counters cannot be used to test for floods of multicast: %s", strerror(errno));
    }
    open_packets(watch);
    watch->counters = oc_watch_counters_open(&place->interface);
    for (unsigned i = 0; i < OC_WATCH_COUNTERS; i++) {
        watch->gauges[i].burst = OC_FLOOD_BURST;
    }
    return watch;
}

void oc_flood_watch_close(oc_flood_watch_t *watch)
{
    if (NULL == watch) {
        return;
    }
    if (watch->mark_fd >= 0) {
        oc_fd_close(watch->mark_fd);
    }
    if (watch->packet_fd >= 0) {
        oc_fd_close(watch->packet_fd);
    }
    oc_watch_counters_close(watch->counters);
    free(watch);
}

int oc_flood_watch_fd(const oc_flood_watch_t *watch)
{
    return watch->mark_fd;
}

static void on_packet(void *arg, const uint8_t *bytes, size_t length)
{
    oc_flood_watch_t *watch = arg;
    oc_flood_frame_t frame;

    if (oc_flood_frame_open(watch->seal, watch->place->token, bytes, length, &frame)
        && OC_FLOOD_FRAME_MARK != frame.kind) {
        watch->packets.counts[frame.slot]++;
    }
}

/* What a slot has brought, if it lies between two marks that were taken in time. */
static void take_slot(oc_flood_watch_t *watch, uint32_t slot,
                      const uint64_t values[OC_WATCH_COUNTERS])
{
    for (unsigned i = 0; i < oc_watch_counters_count(watch->counters); i++) {
        watch->gauges[i].counts[slot] = values[i] - watch->values[i];
        watch->gauges[i].valid[slot] = values[i] >= watch->values[i];
    }
}

/* Another job may have joined, for a test of its own: then its probes arrive, and these too. */
static void note_members(oc_flood_watch_t *watch)
{
    watch->joined = watch->joined
                    || oc_flood_has_joined(&watch->place->interface, watch->place->probes);
}

static void take_mark(oc_flood_watch_t *watch, uint32_t slot, uint64_t arrived)
{
    uint64_t values[OC_WATCH_COUNTERS] = {0};
    bool punctual = NULL != watch->counters && oc_watch_counters_read(watch->counters, values)
                    && 0 != arrived && oc_flood_socket_now() - arrived < PUNCTUAL;

    /* what was held up somewhere comes all at once, and cannot be told apart */
    if (punctual && watch->punctual && NO_MARK != watch->marked && watch->marked + 1 == slot
        && arrived >= watch->arrived + OC_FLOOD_TAIL) {
        take_slot(watch, watch->marked, values);
    }
    memcpy(watch->values, values, sizeof(values));
    watch->marked = slot;
    watch->arrived = arrived;
    watch->punctual = punctual;
    note_members(watch);
}

/* One that is played back costs nothing: counters are read once for each slot, and its end. */
static bool is_next_mark(const oc_flood_watch_t *watch, const oc_flood_frame_t *frame)
{
    return OC_FLOOD_FRAME_MARK == frame->kind
           && (NO_MARK == watch->marked || frame->slot > watch->marked);
}

static void take_marks(oc_flood_watch_t *watch)
{
    uint8_t bytes[OC_FLOOD_FRAME_SIZE + 1];
    oc_flood_frame_t frame;
    uint64_t arrived;

    for (uint32_t i = 0; i < MOST_AT_ONCE; i++) {
        size_t length = oc_flood_socket_receive(watch->mark_fd, bytes, sizeof(bytes), &arrived);

        if (0 == length) {
            return;
        }
        if (oc_flood_frame_open(watch->seal, watch->place->token, bytes, length, &frame)
            && is_next_mark(watch, &frame)) {
            take_mark(watch, frame.slot, arrived);
        }
    }
}

void oc_flood_watch_progress(oc_flood_watch_t *watch)
{
    if (watch->mark_fd >= 0) {
        take_marks(watch);
    }
    if (watch->packet_fd >= 0) {
        oc_watch_packets_read(watch->packet_fd, on_packet, watch);
    }
}

static oc_flood_verdict_t judge_counters(const oc_flood_watch_t *watch)
{
    oc_flood_verdict_t verdict = OC_FLOOD_BLIND;

    for (unsigned i = 0; i < oc_watch_counters_count(watch->counters); i++) {
        oc_flood_verdict_t one = oc_flood_judge(&watch->gauges[i]);

        oc_debug("flood test: counter %u says %d", i, (int) one);
        verdict = one > verdict ? one : verdict;
    }
    return verdict;
}

oc_flood_verdict_t oc_flood_watch_verdict(oc_flood_watch_t *watch)
{
    oc_flood_verdict_t verdict = OC_FLOOD_BLIND, counted;

    oc_flood_watch_progress(watch);
    note_members(watch);
    if (watch->joined) {
        return OC_FLOOD_UNKNOWN;
    }
    if (watch->packet_fd >= 0) {
        verdict = oc_flood_judge(&watch->packets);
    }
    if (NULL != watch->counters) {
        counted = judge_counters(watch);
        verdict = counted > verdict ? counted : verdict;
        if (OC_FLOOD_BLIND == verdict && NO_MARK != watch->marked
            && !oc_flood_is_attended(&watch->gauges[0])) {
            verdict = OC_FLOOD_UNKNOWN;
        }
    }
    return verdict;
}
