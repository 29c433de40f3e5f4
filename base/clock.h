/* SPDX-License-Identifier: BSD-3-Clause */
/* Monotonic time in nanoseconds. */
#ifndef OC_BASE_CLOCK_H
#define OC_BASE_CLOCK_H

#include <stdint.h>
#include <time.h>

#define OC_MILLISECOND 1000000ull
#define OC_SECOND      1000000000ull

static inline uint64_t oc_clock_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t) now.tv_sec * OC_SECOND + (uint64_t) now.tv_nsec;
}

#endif
