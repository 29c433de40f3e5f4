/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Handles: drawn until one is free, of which at least seven of eight are. A bit for each says which
 * are in use or rest, a ring which have rested longest; both are touched, and take memory, only as
 * far as they are used.
 */
#include "base/handles.h"

#include <assert.h>
#include <stdlib.h>
#include <sys/random.h>

#define COUNT     (1u << OC_HANDLES_BITS)
#define BATCH     64    /* of 256 bytes, which the kernel gives whole or not at all */
#define WORD_BITS 64u

_Static_assert(8 * (OC_HANDLES_MAX + OC_HANDLES_RESTING) <= COUNT, "drawing would take long");

struct oc_handles {
    uint64_t busy[COUNT / WORD_BITS];
    uint32_t resting[OC_HANDLES_RESTING];
    uint32_t oldest, num_resting;
    uint32_t num_taken;
    uint32_t drawn[BATCH];
    unsigned left;    /* of what was drawn */
};

oc_handles_t *oc_handles_new(void)
{
    return calloc(1, sizeof(oc_handles_t));
}

void oc_handles_free(oc_handles_t *handles)
{
    free(handles);
}

static bool is_busy(const oc_handles_t *handles, uint32_t handle)
{
    return 0 != (handles->busy[handle / WORD_BITS] >> handle % WORD_BITS & 1);
}

static void flip(oc_handles_t *handles, uint32_t handle)
{
    handles->busy[handle / WORD_BITS] ^= 1ull << handle % WORD_BITS;
}

static bool draw(oc_handles_t *handles, uint32_t *handle)
{
    if (0 == handles->left) {
        if (sizeof(handles->drawn) != getrandom(handles->drawn, sizeof(handles->drawn), 0)) {
            return false;
        }
        handles->left = BATCH;
    }
    *handle = handles->drawn[--handles->left] % COUNT;
    return true;
}

bool oc_handles_take(oc_handles_t *handles, uint32_t *handle)
{
    if (OC_HANDLES_MAX == handles->num_taken) {
        return false;
    }
    do {
        if (!draw(handles, handle)) {
            return false;
        }
    } while (is_busy(handles, *handle));
    flip(handles, *handle);
    handles->num_taken++;
    return true;
}

void oc_handles_give(oc_handles_t *handles, uint32_t handle)
{
    assert(handle < COUNT && is_busy(handles, handle) && handles->num_taken > 0);
    if (OC_HANDLES_RESTING == handles->num_resting) {
        assert(is_busy(handles, handles->resting[handles->oldest]));
        flip(handles, handles->resting[handles->oldest]);
        handles->oldest = (handles->oldest + 1) % OC_HANDLES_RESTING;
        handles->num_resting--;
    }
    handles->resting[(handles->oldest + handles->num_resting) % OC_HANDLES_RESTING] = handle;
    handles->num_resting++;
    handles->num_taken--;
}

const char *oc_handles_check(const oc_handles_t *handles)
{
    uint32_t busy = 0;

    for (uint32_t i = 0; i < COUNT / WORD_BITS; i++) {
        busy += (uint32_t) __builtin_popcountll(handles->busy[i]);
    }
    for (uint32_t i = 0; i < handles->num_resting; i++) {
        if (!is_busy(handles, handles->resting[(handles->oldest + i) % OC_HANDLES_RESTING])) {
            return "a handle that rests may be taken";
        }
    }
    return busy == handles->num_taken + handles->num_resting
               ? NULL : "more or less handles are busy than are taken and rest";
}
