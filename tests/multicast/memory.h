/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory of simulations, which end if there is none. */
#ifndef OC_TESTS_MULTICAST_MEMORY_H
#define OC_TESTS_MULTICAST_MEMORY_H

#include <stddef.h>
#include <stdlib.h>

static inline void *memory_resize(void *old, size_t size)
{
    void *memory = realloc(old, size > 0 ? size : 1);

    if (NULL == memory) {
        abort();
    }
    return memory;
}

/* All zero. The caller frees it. */
static inline void *memory_new(size_t size)
{
    void *memory = calloc(1, size > 0 ? size : 1);

    if (NULL == memory) {
        abort();
    }
    return memory;
}

#endif
