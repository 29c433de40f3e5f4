/* SPDX-License-Identifier: BSD-3-Clause */
/* Group handles: reused as late as possible, and with another generation each time. */
#include <stdlib.h>

#include "server/job_types.h"

#define INDEX_BITS      16
#define GENERATION_MASK 0xf

static bool grow(oc_handles_t *handles)
{
    uint32_t capacity = 0 == handles->capacity ? 64 : 2 * handles->capacity;
    uint8_t *generations = realloc(handles->generations, capacity);
    uint32_t *ring;

    if (NULL == generations) {
        return false;
    }
    handles->generations = generations;
    ring = malloc(capacity * sizeof(*ring));
    if (NULL == ring) {
        return false;
    }
    free(handles->free);
    handles->free = ring;
    handles->first_free = 0;
    handles->num_free = 0;
    /* grown only when none is free: the new indices are all there is */
    for (uint32_t i = handles->capacity; i < capacity; i++) {
        handles->generations[i] = 0;
        handles->free[handles->num_free++] = i;
    }
    handles->capacity = capacity;
    return true;
}

bool oc_handles_take(oc_handles_t *handles, uint32_t *handle)
{
    uint32_t index;

    if (0 == handles->num_free && (handles->capacity >= OC_MAX_GROUPS || !grow(handles))) {
        return false;
    }
    index = handles->free[handles->first_free];
    handles->first_free = (handles->first_free + 1) % handles->capacity;
    handles->num_free--;
    *handle = (uint32_t) handles->generations[index] << INDEX_BITS | index;
    return true;
}

void oc_handles_give(oc_handles_t *handles, uint32_t handle)
{
    uint32_t index = handle & ((1u << INDEX_BITS) - 1);

    handles->generations[index] = (handles->generations[index] + 1) & GENERATION_MASK;
    handles->free[(handles->first_free + handles->num_free) % handles->capacity] = index;
    handles->num_free++;
}

void oc_handles_free(oc_handles_t *handles)
{
    free(handles->generations);
    free(handles->free);
    *handles = (oc_handles_t) {0};
}
