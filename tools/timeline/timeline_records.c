/* SPDX-License-Identifier: BSD-3-Clause */
/* Files of records: reading, sorting, grouping. */
#include "tools/timeline/timeline_records.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/timeline/clocks.h"

static bool add_entry(oc_timelines_t *timelines, const oc_entry_t *entry)
{
    if (timelines->num_entries == timelines->room) {
        size_t room = 0 == timelines->room ? 4096 : 2 * timelines->room;
        oc_entry_t *entries = realloc(timelines->entries, room * sizeof(*entries));

        if (NULL == entries) {
            return false;
        }
        timelines->entries = entries;
        timelines->room = room;
    }
    timelines->entries[timelines->num_entries++] = *entry;
    return true;
}

static bool find_collective(const char *name, oc_ruled_t *collective)
{
    for (int ruled = 0; ruled < OC_NUM_RULED; ruled++) {
        if (0 == strcmp(name, oc_ruled_name((oc_ruled_t) ruled))) {
            *collective = (oc_ruled_t) ruled;
            return true;
        }
    }
    return false;
}

static bool parse_server(const char *line, oc_timeline_record_t *r)
{
    int fields = sscanf(line, "%" SCNu32 " %" SCNu32 " %" SCNu64 " %" SCNu32 " %" SCNu32
                        " %" SCNu32 " %" SCNu32 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64
                        " %" SCNu64, &r->handle, &r->aggregator, &r->sequence, &r->number,
                        &r->bytes, &r->first, &r->last, &r->times[0], &r->times[1], &r->times[2],
                        &r->times[3], &r->times[4]);

    return 12 == fields;
}

static bool parse_client(const char *line, oc_timeline_record_t *r)
{
    char name[32] = "";
    int fields = sscanf(line, "%" SCNu32 " %" SCNu32 " %" SCNu64 " %" SCNu32 " %" SCNu32
                        " %" SCNu32 " %" SCNu32 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %31s",
                        &r->handle, &r->aggregator, &r->sequence, &r->number, &r->bytes, &r->first,
                        &r->last, &r->times[0], &r->times[1], &r->times[2], name);

    return 11 == fields && find_collective(name, &r->collective);
}

static bool parse_record(const char *line, oc_entry_t *entry)
{
    return OC_TIMELINE_SERVER == entry->kind ? parse_server(line, &entry->record)
                                             : parse_client(line, &entry->record);
}

/* The number of a clock: that of the first file with this word. */
static bool find_clock(oc_timelines_t *timelines, const char *word, unsigned *number)
{
    char (*clocks)[64];

    for (*number = 0; *number < timelines->num_clocks; ++*number) {
        if (0 == strcmp(timelines->clocks[*number], word)) {
            return true;
        }
    }
    clocks = realloc(timelines->clocks, (timelines->num_clocks + 1) * sizeof(*clocks));
    if (NULL == clocks) {
        return false;
    }
    timelines->clocks = clocks;
    snprintf(clocks[timelines->num_clocks++], sizeof(*clocks), "%s", word);
    return true;
}

static bool add_source(oc_timelines_t *timelines, const oc_source_t *source)
{
    oc_source_t *sources = realloc(timelines->sources,
                                   (timelines->num_sources + 1) * sizeof(*sources));

    if (NULL == sources) {
        return false;
    }
    timelines->sources = sources;
    sources[timelines->num_sources++] = *source;
    return true;
}

static bool read_head(oc_timelines_t *timelines, FILE *file)
{
    oc_source_t source = {.name = ""};
    char line[512], kind[8], clock[64];

    if (NULL == fgets(line, sizeof(line), file)
        || 3 != sscanf(line, "optcast-timeline 2 %7s %127s %63s", kind, source.name, clock)
        || (0 != strcmp(kind, "client") && 0 != strcmp(kind, "server"))) {
        return false;
    }
    source.kind = 's' == kind[0] ? OC_TIMELINE_SERVER : OC_TIMELINE_CLIENT;
    return find_clock(timelines, clock, &source.clock) && add_source(timelines, &source);
}

static bool read_records(oc_timelines_t *timelines, FILE *file)
{
    oc_entry_t entry = {.source = timelines->num_sources - 1,
                        .kind = timelines->sources[timelines->num_sources - 1].kind};
    char line[512];

    while (NULL != fgets(line, sizeof(line), file)) {
        if ('#' != line[0]
            && (!parse_record(line, &entry) || !add_entry(timelines, &entry))) {
            return false;
        }
    }
    return true;
}

bool oc_timelines_read(oc_timelines_t *timelines, const char *path, char *error, size_t size)
{
    FILE *file = fopen(path, "r");
    bool good;

    if (NULL == file) {
        snprintf(error, size, "cannot read %s: %s", path, strerror(errno));
        return false;
    }
    good = read_head(timelines, file) && read_records(timelines, file);
    fclose(file);
    if (!good) {
        snprintf(error, size, "%s is no timeline of this version, or damaged", path);
    }
    return good;
}

/* Compares two numbers of any unsigned type, for sorting. */
#define ORDER(a, b) (((a) > (b)) - ((a) < (b)))

static int compare_keys(const oc_timeline_record_t *a, const oc_timeline_record_t *b)
{
    int order = ORDER(a->handle, b->handle);

    order = 0 != order ? order : ORDER(a->sequence, b->sequence);
    order = 0 != order ? order : ORDER(a->aggregator, b->aggregator);
    return 0 != order ? order : ORDER(a->number, b->number);
}

static int compare_entries(const void *left, const void *right)
{
    const oc_entry_t *a = left, *b = right;
    int order = compare_keys(&a->record, &b->record);

    order = 0 != order ? order : ORDER(b->kind, a->kind);
    return 0 != order ? order : ORDER(a->record.first, b->record.first);
}

static size_t find_chunk(const oc_timelines_t *timelines, size_t first, oc_chunk_view_t *chunk)
{
    const oc_entry_t *entries = timelines->entries;
    size_t end = first;

    while (end < timelines->num_entries
           && 0 == compare_keys(&entries[first].record, &entries[end].record)) {
        end++;
    }
    chunk->server = OC_TIMELINE_SERVER == entries[first].kind ? &entries[first] : NULL;
    while (first < end && OC_TIMELINE_SERVER == entries[first].kind) {
        first++;
    }
    chunk->clients = &entries[first];
    chunk->num_clients = (unsigned) (end - first);
    return end;
}

static void extend(oc_collective_view_t *collective, const oc_chunk_view_t *chunk)
{
    for (unsigned i = 0; i < chunk->num_clients; i++) {
        const oc_timeline_record_t *r = &chunk->clients[i].record;

        collective->begin = r->times[OC_CLIENT_POSTED] < collective->begin
                                ? r->times[OC_CLIENT_POSTED] : collective->begin;
        collective->end = r->times[OC_CLIENT_RESULT] > collective->end
                              ? r->times[OC_CLIENT_RESULT] : collective->end;
        collective->num_aggregators = r->aggregator >= collective->num_aggregators
                                          ? r->aggregator + 1 : collective->num_aggregators;
        collective->num_ranks = r->first >= collective->num_ranks ? r->first + 1
                                                                  : collective->num_ranks;
        collective->largest = r->bytes > collective->largest ? r->bytes : collective->largest;
    }
    collective->num_chunks++;
}

/* Chunks of which no rank tells are left out. */
static void group_entries(oc_timelines_t *timelines)
{
    oc_chunk_view_t *chunk = timelines->chunks;
    oc_collective_view_t *collective = NULL;

    for (size_t at = 0; at < timelines->num_entries;) {
        const oc_timeline_record_t *key = &timelines->entries[at].record;

        at = find_chunk(timelines, at, chunk);
        if (0 == chunk->num_clients) {
            continue;
        }
        if (NULL == collective || collective->handle != key->handle
            || collective->sequence != key->sequence) {
            collective = &timelines->collectives[timelines->num_collectives++];
            *collective = (oc_collective_view_t) {
                .chunks = chunk, .handle = key->handle, .sequence = key->sequence,
                .name = oc_ruled_name(chunk->clients[0].record.collective), .begin = UINT64_MAX};
        }
        extend(collective, chunk++);
    }
}

bool oc_timelines_arrange(oc_timelines_t *timelines)
{
    size_t most = timelines->num_entries;

    timelines->chunks = calloc(most + 1, sizeof(*timelines->chunks));
    timelines->collectives = calloc(most + 1, sizeof(*timelines->collectives));
    if (NULL == timelines->chunks || NULL == timelines->collectives) {
        return false;
    }
    qsort(timelines->entries, most, sizeof(*timelines->entries), compare_entries);
    if (!oc_clocks_align(timelines)) {
        return false;
    }
    group_entries(timelines);
    return true;
}

void oc_timelines_free(oc_timelines_t *timelines)
{
    free(timelines->sources);
    free(timelines->clocks);
    free(timelines->entries);
    free(timelines->chunks);
    free(timelines->collectives);
}
