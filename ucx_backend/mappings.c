/* SPDX-License-Identifier: BSD-3-Clause */
/* Registration of whole vectors. */
#include "ucx_backend/mappings.h"

#include <stdlib.h>
#include <utlist.h>

struct oc_mapping {
    ucp_mem_h handle;
    const char *memory;
    size_t length;
    unsigned users;
    oc_mapping_t *prev, *next;
};

void oc_mappings_open(oc_mappings_t *mappings, ucp_context_h context, bool enabled)
{
    *mappings = (oc_mappings_t) {.context = context, .enabled = enabled};
}

static oc_mapping_t *find(const oc_mappings_t *mappings, const char *memory, size_t length)
{
    oc_mapping_t *mapping;

    DL_FOREACH (mappings->list, mapping) {
        if (memory >= mapping->memory && length <= mapping->length
            && (size_t) (memory - mapping->memory) <= mapping->length - length) {
            return mapping;
        }
    }
    return NULL;
}

/* UCX complains about memory that may not be registered: once is enough. */
static oc_mapping_t *mapping_new(oc_mappings_t *mappings, const void *memory, size_t length)
{
    oc_mapping_t *mapping = calloc(1, sizeof(*mapping));
    ucp_mem_map_params_t params = {
        .field_mask = UCP_MEM_MAP_PARAM_FIELD_ADDRESS | UCP_MEM_MAP_PARAM_FIELD_LENGTH,
        .address = (void *) memory,
        .length = length,
    };

    if (NULL == mapping) {
        return NULL;
    }
    if (UCS_OK != ucp_mem_map(mappings->context, &params, &mapping->handle)) {
        mappings->enabled = false;
        free(mapping);
        return NULL;
    }
    mapping->memory = memory;
    mapping->length = length;
    DL_APPEND(mappings->list, mapping);
    return mapping;
}

oc_mapping_t *oc_mappings_take(oc_mappings_t *mappings, const void *memory, size_t length)
{
    oc_mapping_t *mapping = find(mappings, memory, length);

    if (NULL == mapping && mappings->enabled) {
        mapping = mapping_new(mappings, memory, length);
    }
    if (NULL != mapping) {
        mapping->users++;
    }
    return mapping;
}

/* What ends is no longer found in UCX's cache, by nobody: hence one for all who use the memory. */
void oc_mappings_give(oc_mappings_t *mappings, oc_mapping_t *mapping)
{
    if (NULL != mapping && 0 == --mapping->users) {
        (void) ucp_mem_unmap(mappings->context, mapping->handle);
        DL_DELETE(mappings->list, mapping);
        free(mapping);
    }
}
