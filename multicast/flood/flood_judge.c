/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Only the last rounds count: a switch that prunes needs a moment after a host has joined, in which
 * it may still send to all ports. A round in which something else was on the network does not
 * count, and one of several may contradict: whoever floods does so in all of them.
 */
#include "multicast/flood/flood_judge.h"

/* Counters that somebody brings up to date only a few times a second cannot fit as many rounds. */
#define JUDGED 5u
#define NEEDED 3u

typedef struct {
    unsigned rounds;           /* that count */
    unsigned control, probe;   /* in which it has seen so */
    unsigned no_probe;
} tally_t;

oc_flood_phase_t oc_flood_phase(uint32_t slot)
{
    return (oc_flood_phase_t) ((slot % OC_PHASES + slot / OC_PHASES) % OC_PHASES);
}

static bool is_seen(const oc_flood_gauge_t *gauge, uint64_t count)
{
    return 4 * count >= 3 * (uint64_t) gauge->burst;
}

static bool is_unseen(const oc_flood_gauge_t *gauge, uint64_t count)
{
    return 4 * count <= gauge->burst;
}

/* The counts of a round by kind; false: not all of them are valid. */
static bool read_round(const oc_flood_gauge_t *gauge, uint32_t round, uint64_t counts[OC_PHASES])
{
    bool valid = true;

    for (uint32_t slot = round * OC_PHASES; slot < (round + 1) * OC_PHASES; slot++) {
        counts[oc_flood_phase(slot)] = gauge->counts[slot];
        valid = valid && gauge->valid[slot];
    }
    return valid;
}

static void count_round(const oc_flood_gauge_t *gauge, const uint64_t counts[OC_PHASES],
                        tally_t *tally)
{
    tally->rounds++;
    tally->control += is_seen(gauge, counts[OC_PHASE_CONTROL]);
    tally->probe += is_seen(gauge, counts[OC_PHASE_PROBE]);
    tally->no_probe += is_unseen(gauge, counts[OC_PHASE_PROBE]);
}

static bool is_certain(const tally_t *tally, unsigned rounds)
{
    return rounds >= NEEDED && rounds + 1 >= tally->rounds;
}

oc_flood_verdict_t oc_flood_judge(const oc_flood_gauge_t *gauge)
{
    tally_t tally = {0};
    uint64_t counts[OC_PHASES];

    for (uint32_t round = OC_FLOOD_ROUNDS - JUDGED; round < OC_FLOOD_ROUNDS; round++) {
        if (read_round(gauge, round, counts) && is_unseen(gauge, counts[OC_PHASE_QUIET])) {
            count_round(gauge, counts, &tally);
        }
    }
    if (is_certain(&tally, tally.probe)) {
        return OC_FLOOD_FLOODED;
    }
    return is_certain(&tally, tally.control) && is_certain(&tally, tally.no_probe)
               ? OC_FLOOD_GUARDED
               : OC_FLOOD_BLIND;
}

bool oc_flood_is_attended(const oc_flood_gauge_t *gauge)
{
    uint64_t counts[OC_PHASES];
    unsigned rounds = 0;

    for (uint32_t round = OC_FLOOD_ROUNDS - JUDGED; round < OC_FLOOD_ROUNDS; round++) {
        rounds += read_round(gauge, round, counts);
    }
    return rounds >= NEEDED;
}
