/* SPDX-License-Identifier: BSD-3-Clause */
/* Tables, in milliseconds. */
#include "tools/timeline/timeline_report.h"

#include <inttypes.h>
#include <stdlib.h>

/* Spans of one kind, for their median. */
typedef struct {
    double *values;
    size_t count;
} spans_t;

static double ms(uint64_t from, uint64_t to)
{
    return (double) (int64_t) (to - from) / 1e6;
}

static int compare_values(const void *left, const void *right)
{
    double a = *(const double *) left, b = *(const double *) right;

    return (a > b) - (a < b);
}

static double median(spans_t *spans)
{
    if (0 == spans->count) {
        return 0;
    }
    qsort(spans->values, spans->count, sizeof(double), compare_values);
    return spans->values[spans->count / 2];
}

static void add(spans_t *spans, uint64_t from, uint64_t to)
{
    spans->values[spans->count++] = ms(from, to);
}

static uint64_t first_result(const oc_collective_view_t *collective)
{
    uint64_t first = UINT64_MAX;

    for (unsigned c = 0; c < collective->num_chunks; c++) {
        for (unsigned i = 0; i < collective->chunks[c].num_clients; i++) {
            uint64_t t = collective->chunks[c].clients[i].record.times[OC_CLIENT_RESULT];

            first = t < first ? t : first;
        }
    }
    return first;
}

/* When the last rank began. */
static uint64_t last_begin(const oc_collective_view_t *collective)
{
    uint64_t last = 0;

    for (unsigned rank = 0; rank < collective->num_ranks; rank++) {
        uint64_t begin = UINT64_MAX;

        for (unsigned c = 0; c < collective->num_chunks; c++) {
            for (unsigned i = 0; i < collective->chunks[c].num_clients; i++) {
                const oc_timeline_record_t *r = &collective->chunks[c].clients[i].record;

                if (r->first == rank && r->times[OC_CLIENT_POSTED] < begin) {
                    begin = r->times[OC_CLIENT_POSTED];
                }
            }
        }
        last = UINT64_MAX != begin && begin > last ? begin : last;
    }
    return last;
}

typedef struct {
    spans_t there, gather, reduce, back;
    uint64_t last_contribution;
} phases_t;

static void measure(const oc_collective_view_t *collective, phases_t *phases)
{
    for (unsigned c = 0; c < collective->num_chunks; c++) {
        const oc_chunk_view_t *chunk = &collective->chunks[c];
        const uint64_t *server = NULL != chunk->server ? chunk->server->record.times : NULL;

        if (NULL == server) {
            continue;
        }
        add(&phases->gather, server[OC_SERVER_FIRST], server[OC_SERVER_LAST]);
        add(&phases->reduce, server[OC_SERVER_LAST], server[OC_SERVER_REDUCED]);
        if (server[OC_SERVER_LAST] > phases->last_contribution) {
            phases->last_contribution = server[OC_SERVER_LAST];
        }
        for (unsigned i = 0; i < chunk->num_clients; i++) {
            const uint64_t *client = chunk->clients[i].record.times;

            add(&phases->there, client[OC_CLIENT_POSTED], server[OC_SERVER_LAST]);
            add(&phases->back, server[OC_SERVER_REDUCED], client[OC_CLIENT_RESULT]);
        }
    }
}

static void print_collective(const oc_collective_view_t *collective, phases_t *phases, FILE *out)
{
    measure(collective, phases);
    fprintf(out, "%5" PRIu32 " %8" PRIu64 " %-20s %5u %5u %6u %8u %9.2f %7.2f %7.2f",
            collective->handle, collective->sequence, collective->name, collective->num_ranks,
            collective->num_aggregators, collective->num_chunks, collective->largest,
            ms(collective->begin, collective->end),
            ms(collective->begin, last_begin(collective)),
            ms(collective->begin, first_result(collective)));
    if (phases->gather.count > 0) {
        fprintf(out, " %7.2f %7.2f %7.3f %7.2f %7.2f", median(&phases->there),
                median(&phases->gather), median(&phases->reduce), median(&phases->back),
                ms(phases->last_contribution, collective->end));
    }
    fprintf(out, "\n");
}

bool oc_report_collectives(const oc_timelines_t *timelines, FILE *out)
{
    size_t most = timelines->num_entries + 1;
    double *values = calloc(4 * most, sizeof(*values));

    if (NULL == values) {
        return false;
    }
    fprintf(out, "# All times in ms. skew: from the first to the last rank that began; result: to "
            "the first result.\n# Medians over chunks: there: posted until the last contribution "
            "is there; gather: from the\n# first to the last contribution; reduce; back: reduced "
            "until a rank has the result.\n# tail: from the last contribution of all to the "
            "end.\n#\n");
    fprintf(out, "%5s %8s %-20s %5s %5s %6s %8s %9s %7s %7s %7s %7s %7s %7s %7s\n", "group",
            "sequence", "collective", "ranks", "aggr.", "chunks", "bytes", "time", "skew", "result",
            "there", "gather", "reduce", "back", "tail");
    for (unsigned i = 0; i < timelines->num_collectives; i++) {
        phases_t phases = {.there = {values, 0}, .gather = {values + most, 0},
                           .reduce = {values + 2 * most, 0}, .back = {values + 3 * most, 0}};

        print_collective(&timelines->collectives[i], &phases, out);
    }
    free(values);
    return true;
}

void oc_report_chunks(const oc_collective_view_t *collective, FILE *out)
{
    uint64_t begin = collective->begin;

    fprintf(out, "%5s %5s | %8s %8s %8s %8s %8s | first/last rank | posted, sent, result of each "
            "rank\n", "aggr.", "chunk", "admitted", "first", "last", "reduced", "sent");
    for (unsigned c = 0; c < collective->num_chunks; c++) {
        const oc_chunk_view_t *chunk = &collective->chunks[c];
        const oc_timeline_record_t *key = &chunk->clients[0].record;

        fprintf(out, "%5" PRIu32 " %5" PRIu32 " |", key->aggregator, key->number);
        for (unsigned t = 0; t <= OC_SERVER_SENT; t++) {
            fprintf(out, " %8.2f",
                    NULL != chunk->server ? ms(begin, chunk->server->record.times[t]) : 0);
        }
        fprintf(out, " | %3" PRId64 " %3" PRId64 " |",
                NULL != chunk->server ? (int64_t) chunk->server->record.first : -1,
                NULL != chunk->server ? (int64_t) chunk->server->record.last : -1);
        for (unsigned i = 0; i < chunk->num_clients; i++) {
            const uint64_t *t = chunk->clients[i].record.times;

            fprintf(out, "  %.2f %.2f %.2f", ms(begin, t[OC_CLIENT_POSTED]),
                    ms(begin, t[OC_CLIENT_SENT]), ms(begin, t[OC_CLIENT_RESULT]));
        }
        fprintf(out, "\n");
    }
}

static int compare_durations(const void *left, const void *right)
{
    const oc_collective_view_t *a = *(const oc_collective_view_t *const *) left;
    const oc_collective_view_t *b = *(const oc_collective_view_t *const *) right;
    uint64_t first = a->end - a->begin, second = b->end - b->begin;

    return (first > second) - (first < second);
}

const oc_collective_view_t *oc_report_typical(const oc_timelines_t *timelines)
{
    unsigned count = timelines->num_collectives;
    const oc_collective_view_t **sorted = calloc(count + 1, sizeof(*sorted)), *typical = NULL;

    if (NULL == sorted) {
        return NULL;
    }
    for (unsigned i = 0; i < count; i++) {
        sorted[i] = &timelines->collectives[i];
    }
    if (count > 0) {
        qsort(sorted, count, sizeof(*sorted), compare_durations);
        typical = sorted[count / 2];
    }
    free(sorted);
    return typical;
}
