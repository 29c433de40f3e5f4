/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory of the caller that is registered as a whole: the mappings that there are, and how many use
 * each. Of one context, and of one thread at a time.
 */
#ifndef OC_UCX_BACKEND_MAPPINGS_H
#define OC_UCX_BACKEND_MAPPINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <ucp/api/ucp.h>

#include "ucx_backend/worker.h"

typedef struct {
    ucp_context_h context;
    bool enabled;               /* until it has failed once */
    oc_mapping_t *list;
} oc_mappings_t;

/* enabled: whether to map anything at all. The context has to outlive all mappings. */
void oc_mappings_open(oc_mappings_t *mappings, ucp_context_h context, bool enabled);

/* For another user, found or made; NULL if it cannot be done. See oc_map. */
oc_mapping_t *oc_mappings_take(oc_mappings_t *mappings, const void *memory, size_t length);

/* Of one user; the last one ends it. NULL is allowed. */
void oc_mappings_give(oc_mappings_t *mappings, oc_mapping_t *mapping);

#endif
