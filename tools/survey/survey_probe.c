/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Small datagrams come first, then full ones, with one number through both. The rate is that of
 * what comes after the first look that finds something. If that finds much, this process was late,
 * and what lay there already, and is read at once, may have come at any rate.
 */
#include "tools/survey/survey_probe.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"

#define PATIENCE (5 * OC_SECOND)

/* A receiver looks for so many at a time: about as many as the kernel hands out in one call. */
#define LOOK 64u

/* Fewer say nothing about a rate. */
#define SPANNED 16u

#define NUMBERS (2 * OC_SURVEY_MOST)

struct oc_survey_probes {
    oc_transport_t *transport;
    oc_mac_t *seal;
    uint64_t token;
    oc_survey_step_t step;
    oc_survey_counts_t counts;
    uint64_t first, last;      /* when full ones were read */
    uint8_t come[NUMBERS / 8]; /* a bit each */
    uint8_t zeros[OC_DATAGRAM_MAX];
};

oc_survey_probes_t *oc_survey_probes_new(oc_transport_t *transport, const oc_survey_plan_t *plan)
{
    oc_survey_probes_t *probes = calloc(1, sizeof(*probes));

    if (NULL == probes) {
        return NULL;
    }
    probes->transport = transport;
    probes->token = plan->token;
    probes->seal = oc_mac_new(plan->key, OC_JOB_KEY_SIZE, "optcast multicast survey", &plan->token,
                              sizeof(plan->token));
    if (NULL == probes->seal) {
        free(probes);
        return NULL;
    }
    return probes;
}

void oc_survey_probes_free(oc_survey_probes_t *probes)
{
    if (NULL != probes) {
        oc_mac_free(probes->seal);
        free(probes);
    }
}

/* Which datagram it is says all that is in it. */
static oc_nonce_t probe_nonce(const oc_datagram_t *datagram)
{
    return (oc_nonce_t) {.high = datagram->generation,
                         .low = (uint64_t) datagram->rank << 32 | datagram->index};
}

static void fill(oc_survey_probes_t *probes, const oc_survey_step_t *step, uint32_t index,
                 oc_outgoing_t *outgoing)
{
    oc_datagram_t datagram = {
        .kind = OC_DATAGRAM_PROBE, .token = probes->token, .generation = step->number,
        .rank = step->sender, .index = index,
        .length = (uint16_t) (index < step->small ? OC_SURVEY_SMALL : step->length)};

    outgoing->payload = probes->zeros;
    outgoing->length = datagram.length;
    oc_datagram_encode(&datagram, outgoing->header);
    oc_mac_sign(probes->seal, probe_nonce(&datagram), outgoing->header + OC_MAC_SIZE,
                OC_DATAGRAM_HEADER - OC_MAC_SIZE, probes->zeros, datagram.length,
                outgoing->header);
}

/*
 * Numbers from at up to end, which are of one size. What the kernel gets in one call may go, and
 * get lost, in one piece: with small ones each goes by itself, without them all as fast as it can.
 * Returns how many the network has taken.
 */
static uint32_t send_some(oc_survey_probes_t *probes, const oc_survey_step_t *step, uint32_t at,
                          uint32_t end, uint64_t deadline)
{
    static const struct timespec pause = {.tv_nsec = 50000};
    oc_outgoing_t batch[OC_MAX_BATCH];
    uint32_t begin = at, most = step->small > 0 ? 1 : OC_MAX_BATCH;

    while (at < end && oc_clock_ns() < deadline) {
        unsigned count = end - at < most ? end - at : most, taken;

        for (unsigned i = 0; i < count; i++) {
            fill(probes, step, at + i, &batch[i]);
        }
        taken = probes->transport->ops->send(probes->transport, batch, count);
        at += taken;
        if (taken < count) {
            nanosleep(&pause, NULL);
        }
    }
    return at - begin;
}

oc_survey_counts_t oc_survey_probes_send(oc_survey_probes_t *probes, const oc_survey_step_t *step)
{
    uint64_t deadline = oc_clock_ns() + PATIENCE;
    oc_survey_counts_t counts = {0};

    counts.small = send_some(probes, step, 0, step->small, deadline);
    counts.full = send_some(probes, step, step->small, step->small + step->full, deadline);
    return counts;
}

static void count_full(oc_survey_probes_t *probes, uint64_t now)
{
    probes->counts.full++;
    if (0 == probes->first) {
        probes->first = now;
    } else if (now != probes->first) {
        probes->counts.spanned++;
        probes->last = now;
    }
}

static bool is_probe(const oc_survey_probes_t *probes, const uint8_t *bytes, size_t length,
                     oc_datagram_t *datagram)
{
    const oc_survey_step_t *step = &probes->step;

    return oc_datagram_decode(bytes, length, datagram) && OC_DATAGRAM_PROBE == datagram->kind
           && probes->token == datagram->token && step->number == datagram->generation
           && step->sender == datagram->rank && datagram->index < step->small + step->full
           && datagram->length == (datagram->index < step->small ? OC_SURVEY_SMALL : step->length)
           && oc_mac_verify(probes->seal, probe_nonce(datagram), bytes + OC_MAC_SIZE,
                            OC_DATAGRAM_HEADER - OC_MAC_SIZE, bytes + OC_DATAGRAM_HEADER,
                            datagram->length, bytes);
}

/* When this look began. */
typedef struct {
    oc_survey_probes_t *probes;
    uint64_t now;
} look_t;

static void survey_arrived(void *arg, const oc_origin_t *from, const uint8_t *bytes, size_t length)
{
    const look_t *look = arg;
    oc_survey_probes_t *probes = look->probes;
    oc_datagram_t datagram;
    uint8_t bit;

    (void) from;
    if (!is_probe(probes, bytes, length, &datagram)) {
        return;
    }
    bit = (uint8_t) (1u << (datagram.index % 8));
    if (0 != (probes->come[datagram.index / 8] & bit)) {
        probes->counts.doubled++;
        return;
    }
    probes->come[datagram.index / 8] |= bit;
    if (datagram.index < probes->step.small) {
        probes->counts.small++;
    } else {
        count_full(probes, look->now);
    }
}

bool oc_survey_probes_are_complete(const oc_survey_probes_t *probes)
{
    return probes->counts.small == probes->step.small && probes->counts.full == probes->step.full;
}

bool oc_survey_probes_progress(oc_survey_probes_t *probes)
{
    oc_transport_t *transport = probes->transport;
    uint32_t before = probes->counts.small + probes->counts.full;
    look_t look = {.probes = probes};
    unsigned got;

    do {
        look.now = oc_clock_ns();
        got = transport->ops->receive(transport, LOOK, survey_arrived, &look);
    } while (got > 0 && !oc_survey_probes_are_complete(probes));
    return probes->counts.small + probes->counts.full > before;
}

void oc_survey_probes_listen(oc_survey_probes_t *probes, const oc_survey_step_t *step)
{
    probes->step = (oc_survey_step_t) {.full = 1}; /* number 0 does not exist: nothing is counted */
    probes->counts = (oc_survey_counts_t) {0};
    (void) oc_survey_probes_progress(probes);
    probes->step = *step;
    probes->counts = (oc_survey_counts_t) {0};
    probes->first = probes->last = 0;
    memset(probes->come, 0, sizeof(probes->come));
}

oc_survey_counts_t oc_survey_probes_counts(const oc_survey_probes_t *probes)
{
    oc_survey_counts_t counts = probes->counts;

    if (counts.spanned >= SPANNED && counts.full - counts.spanned <= counts.full / 4) {
        counts.span = probes->last - probes->first;
    }
    return counts;
}
