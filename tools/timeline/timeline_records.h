/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Owns the records of all files, in the order in which reports need them.
 *
 *   timelines --< source       one file
 *             --< collective   an operation: a run of chunks
 *                   --< chunk  what happened to it: a run of records, the aggregator's first
 */
#ifndef OC_TOOLS_TIMELINE_TIMELINE_RECORDS_H
#define OC_TOOLS_TIMELINE_TIMELINE_RECORDS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/timeline.h"

typedef struct {
    char name[128];
    oc_timeline_kind_t kind;
    unsigned clock;            /* sources with the same number have the same clock */
} oc_source_t;

typedef struct {
    oc_timeline_record_t record;
    unsigned source;
    oc_timeline_kind_t kind;
} oc_entry_t;

typedef struct {
    const oc_entry_t *server;  /* NULL: no file has it */
    const oc_entry_t *clients;
    unsigned num_clients;
} oc_chunk_view_t;

typedef struct {
    const oc_chunk_view_t *chunks;
    unsigned num_chunks, num_aggregators, num_ranks, largest;
    uint32_t handle;
    uint64_t sequence;
    const char *name;          /* as rules call it */
    uint64_t begin, end;       /* the first receive posted, the last result */
} oc_collective_view_t;

typedef struct {
    oc_source_t *sources;
    unsigned num_sources, num_clocks;
    char (*clocks)[64];
    oc_entry_t *entries;
    size_t num_entries, room;
    oc_chunk_view_t *chunks;
    oc_collective_view_t *collectives;
    unsigned num_collectives;
} oc_timelines_t;

/* false, and a sentence, when the file cannot be read or is something else. */
bool oc_timelines_read(oc_timelines_t *timelines, const char *path, char *error, size_t size);

/*
 * After the last file: makes all times those of the first file's clock, by the shortest ways of
 * messages in both directions, and finds chunks and collectives. false: out of memory.
 */
bool oc_timelines_arrange(oc_timelines_t *timelines);

void oc_timelines_free(oc_timelines_t *timelines);

#endif
