/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Whether the parent of a leaf can be reached, tried once, when the leaf starts: who runs it learns
 * then what is wrong, not with the first job. Belongs to the loop's thread.
 */
#ifndef OC_SERVER_PROBE_H
#define OC_SERVER_PROBE_H

#include "net/loop.h"

typedef struct {
    oc_watch_t watch;        /* fd -1: over, or never begun */
    oc_loop_t *loop;
    const char *parent;      /* HOST[:PORT] */
} oc_probe_t;

/* Looks the name up, which may take time; the rest is done in the loop. The outcome is logged. */
void oc_probe_begin(oc_probe_t *probe, oc_loop_t *loop, const char *parent);

/* Also after a fork, in the process that does not go on with it. */
void oc_probe_end(oc_probe_t *probe);

#endif
