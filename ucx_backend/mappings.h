/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory of the caller that is registered as a whole: the mappings that there are, and how many use
 * each. Of one context, and of one thread at a time.
 *
 * Where registering fails, that memory goes without, and trying has a bound: what is no shorter
 * than the shortest that failed is left out, OC_MAPPINGS_PAUSE times first, and twice as often
 * after each failure, up to OC_MAPPINGS_LONGEST_PAUSE times; then the next is tried. Once that has
 * been registered nothing is left out, until something fails again. So what is tried depends on the
 * sequence of calls and on what UCX answers, and on nothing else.
 */
#ifndef OC_UCX_BACKEND_MAPPINGS_H
#define OC_UCX_BACKEND_MAPPINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <ucp/api/ucp.h>

#include "ucx_backend/worker.h"

#define OC_MAPPINGS_PAUSE         16u
#define OC_MAPPINGS_LONGEST_PAUSE 4096u

typedef struct {
    ucp_context_h context;
    bool enabled;
    size_t failed;              /* bytes: the shortest that failed; SIZE_MAX: none */
    unsigned left_out;          /* since the last failure … */
    unsigned pause;             /* … and how often after it; 0: nothing has failed yet */
    oc_mapping_t *list;
} oc_mappings_t;

/* enabled: whether to map anything at all. The context has to outlive all mappings. */
void oc_mappings_open(oc_mappings_t *mappings, ucp_context_h context, bool enabled);

/* For another user, found or made; NULL: it is not mapped. The first failure leads to a warning. */
oc_mapping_t *oc_mappings_take(oc_mappings_t *mappings, const void *memory, size_t length);

/* Of one user; the last one ends it. NULL is allowed. */
void oc_mappings_give(oc_mappings_t *mappings, oc_mapping_t *mapping);

#endif
