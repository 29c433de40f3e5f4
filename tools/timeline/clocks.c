/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Two clocks differ by what makes the shortest way there as long as the shortest way back: from a
 * rank's posting to the arrival at an aggregator, and from the reduction to the rank's result.
 */
#include "tools/timeline/clocks.h"

#include <limits.h>
#include <stdlib.h>

/* For clocks i and j: the least that times of j are after those of i, on the same way. */
typedef struct {
    unsigned count;
    int64_t *least;            /* count x count; INT64_MAX: no message */
    int64_t *offset;           /* to be added to the times of a clock */
    bool *known;
} ways_t;

static void look_at(ways_t *ways, unsigned from, unsigned to, uint64_t left, uint64_t arrived)
{
    int64_t *least = &ways->least[from * ways->count + to];
    int64_t took = (int64_t) (arrived - left);

    *least = took < *least ? took : *least;
}

static void look_at_pair(const oc_timelines_t *timelines, ways_t *ways, const oc_entry_t *server,
                         const oc_entry_t *client)
{
    unsigned s = timelines->sources[server->source].clock;
    unsigned c = timelines->sources[client->source].clock;
    const uint64_t *there = server->record.times, *here = client->record.times;

    if (server->record.first == client->record.first) {
        look_at(ways, c, s, here[OC_CLIENT_POSTED], there[OC_SERVER_FIRST]);
    }
    if (server->record.last == client->record.first) {
        look_at(ways, c, s, here[OC_CLIENT_POSTED], there[OC_SERVER_LAST]);
    }
    look_at(ways, s, c, there[OC_SERVER_REDUCED], here[OC_CLIENT_RESULT]);
}

static bool same_chunk(const oc_timeline_record_t *a, const oc_timeline_record_t *b)
{
    return a->handle == b->handle && a->sequence == b->sequence && a->aggregator == b->aggregator
           && a->number == b->number;
}

static void look_at_all(const oc_timelines_t *timelines, ways_t *ways)
{
    const oc_entry_t *server = NULL;

    for (size_t i = 0; i < timelines->num_entries; i++) {
        const oc_entry_t *entry = &timelines->entries[i];

        if (OC_TIMELINE_SERVER == entry->kind) {
            server = entry;
        } else if (NULL != server && same_chunk(&server->record, &entry->record)) {
            look_at_pair(timelines, ways, server, entry);
        }
    }
}

/* From the first clock on, over all that messages connect with it. */
static void spread(ways_t *ways)
{
    bool found = true;

    ways->known[0] = true;
    while (found) {
        found = false;
        for (unsigned i = 0; i < ways->count * ways->count; i++) {
            unsigned from = i / ways->count, to = i % ways->count;
            int64_t there = ways->least[i], back = ways->least[to * ways->count + from];

            if (ways->known[from] && !ways->known[to] && INT64_MAX != there
                && INT64_MAX != back) {
                ways->offset[to] = ways->offset[from] - (there - back) / 2;
                ways->known[to] = found = true;
            }
        }
    }
}

static void shift_all(const oc_timelines_t *timelines, const ways_t *ways)
{
    for (size_t i = 0; i < timelines->num_entries; i++) {
        oc_entry_t *entry = &timelines->entries[i];
        int64_t offset = ways->offset[timelines->sources[entry->source].clock];

        for (unsigned t = 0; t < OC_TIMELINE_TIMES; t++) {
            entry->record.times[t] += (uint64_t) offset;
        }
    }
}

bool oc_clocks_align(oc_timelines_t *timelines)
{
    unsigned count = timelines->num_clocks;
    ways_t ways = {.count = count,
                   .least = calloc((size_t) count * count + 1, sizeof(*ways.least)),
                   .offset = calloc(count + 1, sizeof(*ways.offset)),
                   .known = calloc(count + 1, sizeof(*ways.known))};
    bool enough = NULL != ways.least && NULL != ways.offset && NULL != ways.known;

    if (enough) {
        for (unsigned i = 0; i < count * count; i++) {
            ways.least[i] = INT64_MAX;
        }
        look_at_all(timelines, &ways);
        spread(&ways);
        shift_all(timelines, &ways);
    }
    free(ways.least);
    free(ways.offset);
    free(ways.known);
    return enough;
}
