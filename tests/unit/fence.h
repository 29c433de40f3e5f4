/* SPDX-License-Identifier: BSD-3-Clause */
/* A copy of bytes that ends where memory ends: whoever reads beyond it dies at once. */
#ifndef OC_TESTS_UNIT_FENCE_H
#define OC_TESTS_UNIT_FENCE_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define FENCE_PAGE 4096u

typedef struct {
    uint8_t *map, *end;
    size_t size;
} fence_t;

static inline void fence_open(fence_t *fence, size_t capacity)
{
    size_t room = (capacity + FENCE_PAGE - 1) / FENCE_PAGE * FENCE_PAGE;

    fence->size = room + FENCE_PAGE;
    fence->map = mmap(NULL, fence->size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
                      0);
    if (MAP_FAILED == fence->map
        || 0 != mprotect(fence->map + room, FENCE_PAGE, PROT_NONE)) {
        abort();
    }
    fence->end = fence->map + room;
}

static inline uint8_t *fence_copy(fence_t *fence, const void *bytes, size_t length)
{
    uint8_t *copy = fence->end - length;

    if (length > 0) {
        memcpy(copy, bytes, length);
    }
    return copy;
}

static inline void fence_close(fence_t *fence)
{
    munmap(fence->map, fence->size);
}

#endif
