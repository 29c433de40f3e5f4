/* SPDX-License-Identifier: BSD-3-Clause */
/* Blocks in a temporary, one behind the other, or where the program has them. */
#include "adapter/block_layout.h"

#include <stdint.h>
#include <stdlib.h>

bool oc_layout_lists(oc_layout_blocks_t *layout, size_t count)
{
    layout->lengths = malloc(count * (2 * sizeof(size_t) + sizeof(ptrdiff_t)));
    if (NULL == layout->lengths) {
        return false;
    }
    layout->offsets = layout->lengths + count;
    layout->places = (ptrdiff_t *) (layout->offsets + count);
    return true;
}

static void place_in_temporary(oc_layout_blocks_t *layout, size_t count)
{
    size_t offset = 0;

    for (size_t i = 0; i < count; i++) {
        layout->offsets[i] = offset;
        offset += layout->lengths[i];
    }
}

/* The engine counts from the first of them in memory. */
static void place_directly(oc_layout_blocks_t *layout, size_t count, char *data)
{
    ptrdiff_t first = PTRDIFF_MAX;

    for (size_t i = 0; i < count; i++) {
        if (0 != layout->lengths[i] && layout->places[i] < first) {
            first = layout->places[i];
        }
    }
    for (size_t i = 0; i < count; i++) {
        layout->offsets[i] = 0 == layout->lengths[i] ? 0 : (size_t) (layout->places[i] - first);
    }
    layout->recv = data + first;
}

void oc_layout_place(oc_layout_blocks_t *layout, size_t count, void *buffer, ptrdiff_t to_data)
{
    layout->total = 0;
    for (size_t i = 0; i < count; i++) {
        layout->total += layout->lengths[i];
    }
    if (layout->scattered) {
        place_in_temporary(layout, count);
    } else {
        place_directly(layout, count, (char *) buffer + to_data);
    }
}

oc_layout_own_t oc_layout_own(const oc_layout_blocks_t *layout, size_t rank)
{
    if (NULL != layout->lengths) {
        return (oc_layout_own_t) {layout->recv + layout->offsets[rank], layout->lengths[rank]};
    }
    return (oc_layout_own_t) {layout->recv + rank * layout->block, layout->block};
}

bool oc_layout_begin(oc_layout_blocks_t *layout)
{
    if (layout->scattered && NULL == layout->temporary) {
        layout->temporary = malloc(layout->total);
        layout->recv = layout->temporary;
    }
    return !layout->scattered || NULL != layout->temporary;
}

void oc_layout_free(oc_layout_blocks_t *layout)
{
    free(layout->lengths);
    free(layout->temporary);
    *layout = (oc_layout_blocks_t) {.recv = NULL};
}
