/* SPDX-License-Identifier: BSD-3-Clause */
/* Which sums the rules of a job offload, as its programs are told, and what counters say then. */
#ifndef TESTS_MPI_SIZES_H
#define TESTS_MPI_SIZES_H

#include <stdbool.h>

#include "counters.h"

#define SIZES_MAX 4

/* In bytes, both ends included. */
typedef struct {
    int num;      /* 0: nothing is offloaded */
    struct {
        uint64_t first, last;
    } ranges[SIZES_MAX];
} sizes_t;

/* FIRST-[LAST][,FIRST-[LAST]]... as in rules, but plain numbers; or never */
static inline sizes_t sizes_parse(const char *text)
{
    sizes_t sizes = {0};

    while (sizes.num < SIZES_MAX && '\0' != *text && 'n' != *text) {
        char *end;

        sizes.ranges[sizes.num].first = strtoull(text, &end, 10);
        end += '-' == *end;
        sizes.ranges[sizes.num].last = '\0' == *end ? UINT64_MAX : strtoull(end, &end, 10);
        sizes.num++;
        text = end + (',' == *end);
    }
    return sizes;
}

/* Of so many MPI_INT64_T. */
static inline bool sizes_contain(const sizes_t *sizes, int count)
{
    uint64_t bytes = (uint64_t) count * sizeof(int64_t);

    for (int i = 0; i < sizes->num; i++) {
        if (bytes >= sizes->ranges[i].first && bytes <= sizes->ranges[i].last) {
            return true;
        }
    }
    return false;
}

/* Adds to what a sum of so many of them moves. */
static inline void sizes_count(const sizes_t *sizes, counters_t *expected, int count)
{
    expected->allreduce_offloaded += sizes_contain(sizes, count);
    if (0 == sizes->num) {
        expected->fallbacks_place++;
    } else {
        expected->fallbacks_size += !sizes_contain(sizes, count);
    }
}

#endif
