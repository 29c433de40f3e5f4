/* SPDX-License-Identifier: BSD-3-Clause */
/* Copies elements with gaps to rows without, and back. */
#include "client/collective/pack.h"

#include <string.h>

void oc_pack(void *packed, const void *elements, size_t count, size_t size,
             const oc_layout_t *layout)
{
    const size_t first = layout->first, second = size - first;
    const char *from = elements;
    char *to = packed;

    for (size_t i = 0; i < count; i++, from += layout->extent, to += size) {
        memcpy(to, from, first);
        memcpy(to + first, from + layout->second_at, second);
    }
}

void oc_unpack(void *elements, const void *packed, size_t count, size_t size,
               const oc_layout_t *layout)
{
    const size_t first = layout->first, second = size - first;
    const char *from = packed;
    char *to = elements;

    for (size_t i = 0; i < count; i++, from += size, to += layout->extent) {
        memcpy(to, from, first);
        memcpy(to + layout->second_at, from + first, second);
    }
}
