/* SPDX-License-Identifier: BSD-3-Clause */
/* Registration of whole vectors. */
#include "ucx_backend/mappings.h"

#include <stdint.h>
#include <stdlib.h>
#include <utlist.h>

#include "base/log.h"

struct oc_mapping {
    ucp_mem_h handle;
    const char *memory;
    size_t length;
    unsigned users;
    oc_mapping_t *prev, *next;
};

void oc_mappings_open(oc_mappings_t *mappings, ucp_context_h context, bool enabled)
{
    *mappings = (oc_mappings_t) {.context = context, .enabled = enabled, .failed = SIZE_MAX};
}

static oc_mapping_t *mappings_find(const oc_mappings_t *mappings, const char *memory, size_t length)
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

/*
 * A limit for locked memory is reached by the long ones first, and what UCX has registered it
 * keeps: more fits when the system got memory back, of which nobody hears here. Other memory cannot
 * be registered at all, whatever its length, and says nothing about the rest. Both are found out by
 * trying again. UCX complains each time, in words of its own.
 */
static bool is_left_out(oc_mappings_t *mappings, size_t length)
{
    if (length < mappings->failed || mappings->left_out == mappings->pause) {
        return false;
    }
    mappings->left_out++;
    return true;
}

static void note_failure(oc_mappings_t *mappings, size_t length, ucs_status_t status)
{
    if (0 == mappings->pause) {
        oc_warn("%zu bytes at once could not be registered with RDMA devices (%s): vectors for "
                "which that fails are registered piece by piece, which takes longer; unless the "
                "memory may not be written, raise the limit for locked memory (ulimit -l), or name "
                "the devices that are needed in OPTCAST_UCX_NET_DEVICES", length, ucs_status_string(status));
        mappings->pause = OC_MAPPINGS_PAUSE;
    } else if (mappings->pause < OC_MAPPINGS_LONGEST_PAUSE) {
        mappings->pause *= 2;
    }
    mappings->left_out = 0;
    mappings->failed = length < mappings->failed ? length : mappings->failed;
}

static bool do_map(oc_mappings_t *mappings, oc_mapping_t *mapping)
{
    ucp_mem_map_params_t params = {
        .field_mask = UCP_MEM_MAP_PARAM_FIELD_ADDRESS | UCP_MEM_MAP_PARAM_FIELD_LENGTH,
        .address = (void *) mapping->memory,
        .length = mapping->length,
    };
    ucs_status_t status = ucp_mem_map(mappings->context, &params, &mapping->handle);

    if (UCS_OK != status) {
        note_failure(mappings, mapping->length, status);
    } else if (mapping->length >= mappings->failed) {
        mappings->failed = SIZE_MAX;
    }
    return UCS_OK == status;
}

static oc_mapping_t *mapping_new(oc_mappings_t *mappings, const void *memory, size_t length)
{
    oc_mapping_t *mapping = calloc(1, sizeof(*mapping));

    if (NULL == mapping) {
        return NULL;
    }
    mapping->memory = memory;
    mapping->length = length;
    if (!do_map(mappings, mapping)) {
        free(mapping);
        return NULL;
    }
    DL_APPEND(mappings->list, mapping);
    return mapping;
}

oc_mapping_t *oc_mappings_take(oc_mappings_t *mappings, const void *memory, size_t length)
{
    oc_mapping_t *mapping = mappings_find(mappings, memory, length);

    if (NULL == mapping && mappings->enabled && !is_left_out(mappings, length)) {
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
