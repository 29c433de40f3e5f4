/* SPDX-License-Identifier: BSD-3-Clause */
/* Shares as small whole numbers, and places that are spread evenly. */
#include "client/plan/division.h"

#include <stdlib.h>

#include "net/address.h"

/* So that the share of one of several aggregators is a whole number, nearly. */
#define SHARE_UNIT (1ull << 20)

/* The largest lane has at most so many places in a period, and all lanes together so many. */
#define MAX_WEIGHT 64
#define MAX_PERIOD 16384

/* Shares as parts of the largest. */
#define SCALE_BITS 32

/* By how much a lane may have more than its share: thousandths. */
#define EXACT      1000
#define TOLERATED  1010

bool oc_peers_help(uint32_t hosts, uint64_t weights)
{
    return hosts > 1 && hosts <= OC_MAX_PEERS && weights < (uint64_t) hosts * OC_WEIGHT_ONE;
}

uint64_t oc_share_of_server(uint32_t hosts, uint32_t weight, unsigned aggregators)
{
    uint64_t factor = hosts > 1 ? 2 * ((uint64_t) hosts - 1) : 1;

    return factor * weight * SHARE_UNIT / aggregators;
}

uint64_t oc_share_of_peer(uint32_t hosts, uint64_t weights)
{
    return ((uint64_t) hosts * OC_WEIGHT_ONE - weights) * SHARE_UNIT;
}

/* Parts of the largest; their sum. */
static uint64_t division_scale(const uint64_t *shares, unsigned num_lanes, uint64_t *scaled)
{
    uint64_t largest = 0, sum = 0;

    for (unsigned i = 0; i < num_lanes; i++) {
        largest = shares[i] > largest ? shares[i] : largest;
    }
    for (unsigned i = 0; i < num_lanes; i++) {
        scaled[i] = (uint64_t) (((unsigned __int128) shares[i] << SCALE_BITS) / largest);
        scaled[i] += 0 == scaled[i];
        sum += scaled[i];
    }
    return sum;
}

static uint32_t weight_of(uint64_t scaled, unsigned largest)
{
    uint32_t weight = (uint32_t) ((scaled * largest + (1ull << (SCALE_BITS - 1))) >> SCALE_BITS);

    return weight > 0 ? weight : 1;
}

/* The most that a lane has of its share, if the largest one has that many places. */
static uint64_t worst_of(const uint64_t *scaled, unsigned num_lanes, uint64_t sum,
                         unsigned largest, uint64_t *period)
{
    uint64_t worst = EXACT;

    *period = 0;
    for (unsigned i = 0; i < num_lanes; i++) {
        *period += weight_of(scaled[i], largest);
    }
    for (unsigned i = 0; i < num_lanes; i++) {
        uint64_t has = weight_of(scaled[i], largest) * sum * EXACT / (*period * scaled[i]);

        worst = has > worst ? has : worst;
    }
    return worst;
}

/* The smallest numbers that are good enough, or else the best ones. */
static unsigned choose_largest(const uint64_t *scaled, unsigned num_lanes, uint64_t sum)
{
    uint64_t least_worst = UINT64_MAX, period;
    unsigned chosen = 1;

    for (unsigned largest = 1; largest <= MAX_WEIGHT && least_worst > TOLERATED; largest++) {
        uint64_t worst = worst_of(scaled, num_lanes, sum, largest, &period);

        if (worst < least_worst && (1 == largest || period <= MAX_PERIOD)) {
            least_worst = worst;
            chosen = largest;
        }
    }
    return chosen;
}

/*
 * A lane's next place may be this one if the lane would not have more than its share rounded up
 * then; among those that may, it is the turn of the one that would first have less than its share
 * rounded down. There is always one, and nobody is late: each number of a lane is a job of one unit
 * with a first and a last time, and the earliest last time first is right for such jobs.
 */
static unsigned whose_turn(const oc_division_t *division, const uint32_t *given, uint32_t place)
{
    uint64_t period = division->period, earliest = UINT64_MAX;
    unsigned chosen = 0;

    for (unsigned i = 0; i < division->num_lanes; i++) {
        uint64_t weight = division->portions[i].weight;
        uint64_t deadline = ((given[i] + 1) * period + weight - 1) / weight;

        if (given[i] * period < (place + 1) * weight && deadline < earliest) {
            earliest = deadline;
            chosen = i;
        }
    }
    return chosen;
}

/* Equal lanes take turns; to ask all of them for each place would cost their number squared. */
static unsigned lane_of(const oc_division_t *division, const uint32_t *given, uint32_t place)
{
    return division->least == division->most ? place % division->num_lanes
                                             : whose_turn(division, given, place);
}

static void spread(oc_division_t *division, uint32_t *given)
{
    uint32_t *at = division->places;

    for (unsigned i = 0; i < division->num_lanes; i++) {
        division->portions[i].places = at;
        at += division->portions[i].weight;
    }
    for (uint32_t place = 0; place < division->period; place++) {
        unsigned lane = lane_of(division, given, place);
        size_t first = (size_t) (division->portions[lane].places - division->places);

        division->places[first + given[lane]++] = place;
        division->lanes[place] = lane;
    }
}

static void set_weights(oc_division_t *division, const uint64_t *shares, uint64_t *scaled)
{
    uint64_t sum = division_scale(shares, division->num_lanes, scaled);
    unsigned largest = choose_largest(scaled, division->num_lanes, sum);

    division->least = UINT32_MAX;
    for (unsigned i = 0; i < division->num_lanes; i++) {
        uint32_t weight = weight_of(scaled[i], largest);

        division->portions[i].weight = weight;
        division->period += weight;
        division->least = weight < division->least ? weight : division->least;
        division->most = weight > division->most ? weight : division->most;
    }
}

oc_status_t oc_division_make(const uint64_t *shares, unsigned num_lanes, oc_division_t *division)
{
    uint64_t *scaled = calloc(num_lanes, sizeof(*scaled));
    uint32_t *given = calloc(num_lanes, sizeof(*given));
    bool made;

    *division = (oc_division_t) {.num_lanes = num_lanes};
    division->portions = calloc(num_lanes, sizeof(*division->portions));
    if (NULL != scaled && NULL != given && NULL != division->portions) {
        set_weights(division, shares, scaled);
        division->places = calloc(division->period, sizeof(*division->places));
        division->lanes = calloc(division->period, sizeof(*division->lanes));
    }
    made = NULL != division->places && NULL != division->lanes;
    if (made) {
        spread(division, given);
    } else {
        oc_division_free(division);
    }
    free(scaled);
    free(given);
    return made ? OC_OK : OC_ERR_NO_MEMORY;
}

void oc_division_free(oc_division_t *division)
{
    free(division->portions);
    free(division->places);
    free(division->lanes);
    *division = (oc_division_t) {0};
}

uint64_t oc_division_before(const oc_division_t *division, unsigned lane, uint64_t place)
{
    const oc_portion_t *portion = &division->portions[lane];
    uint64_t rest = place % division->period;
    uint32_t low = 0, high = portion->weight;

    while (low < high) {
        uint32_t middle = (low + high) / 2;

        if (portion->places[middle] < rest) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return place / division->period * portion->weight + low;
}

uint64_t oc_division_place(const oc_division_t *division, unsigned lane, uint64_t number)
{
    const oc_portion_t *portion = &division->portions[lane];

    return number / portion->weight * division->period + portion->places[number % portion->weight];
}

unsigned oc_division_lane(const oc_division_t *division, uint64_t place)
{
    return division->lanes[place % division->period];
}
