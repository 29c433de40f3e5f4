/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * When what happened to each chunk: a ring of records in memory, which is written to a file at the
 * end, for optcast-timeline. One thread at a time.
 */
#ifndef OC_BASE_TIMELINE_H
#define OC_BASE_TIMELINE_H

#include <stdint.h>

#include "base/rules.h"

/* The most records that are kept; later ones replace the oldest. */
#define OC_TIMELINE_RECORDS 65536

#define OC_TIMELINE_TIMES 5

typedef enum {
    OC_TIMELINE_CLIENT,
    OC_TIMELINE_SERVER,
} oc_timeline_kind_t;

/* Indices of times, in nanoseconds of oc_clock_ns. */
enum { OC_CLIENT_POSTED, OC_CLIENT_SENT, OC_CLIENT_RESULT };
enum { OC_SERVER_ADMITTED, OC_SERVER_FIRST, OC_SERVER_LAST, OC_SERVER_REDUCED, OC_SERVER_SENT };

/* One chunk, as a rank or as an aggregator saw it. */
typedef struct {
    uint32_t handle;           /* of the group, at the server */
    uint32_t aggregator;       /* its number in the group */
    uint64_t sequence;
    uint32_t number;           /* of the chunk */
    uint32_t bytes;
    uint32_t first, last;      /* ranks whose contributions were the first and the last to come;
                                  of a client, itself */
    oc_ruled_t collective;     /* of a client; aggregators do not know it */
    uint64_t times[OC_TIMELINE_TIMES];
} oc_timeline_record_t;

typedef struct oc_timeline oc_timeline_t;

/*
 * Its file will be PREFIX-NAME.timeline. NULL, which all functions accept, when the prefix is empty
 * or there is no memory, which is warned about.
 */
oc_timeline_t *oc_timeline_open(const char *prefix, const char *name, oc_timeline_kind_t kind);

void oc_timeline_add(oc_timeline_t *timeline, const oc_timeline_record_t *record);

/*
 * Writes the file, if there is anything to write. It is a new one, which then replaces whatever has
 * its name: no link is followed, and what cannot be replaced is warned about.
 */
void oc_timeline_close(oc_timeline_t *timeline);

#endif
