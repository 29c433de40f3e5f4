/* SPDX-License-Identifier: BSD-3-Clause */
/* Arithmetic of times in ns, in whole numbers that do not overflow: OC_FOREVER is the largest. */
#ifndef OC_CLIENT_PLAN_MODEL_TIME_H
#define OC_CLIENT_PLAN_MODEL_TIME_H

#include "client/plan/model.h"

/* A message within a host takes this part of one to another host. */
#define LOCAL_PART 4

/* a * b / c; never more than OC_FOREVER */
static inline uint64_t scale(uint64_t a, uint64_t b, uint64_t c)
{
    uint64_t product, result;

    if (!__builtin_mul_overflow(a, b, &product)) {
        result = product / c;
    } else {
        unsigned __int128 wide = (unsigned __int128) a * b / c;

        result = wide > OC_FOREVER ? OC_FOREVER : (uint64_t) wide;
    }
    return result < OC_FOREVER ? result : OC_FOREVER;
}

static inline uint64_t add(uint64_t a, uint64_t b)
{
    return a + b < OC_FOREVER ? a + b : OC_FOREVER;
}

static inline uint64_t least_of(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static inline uint64_t most_of(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* ns that bytes take at a rate in Mbit/s */
static inline uint64_t at_rate(uint64_t bytes, uint64_t rate)
{
    return scale(bytes, 8000, rate);
}

static inline uint64_t log2_up(uint64_t number)
{
    uint64_t log = 0;

    while (1ull << log < number) {
        log++;
    }
    return log;
}

static inline uint64_t log2_down(uint64_t number)
{
    return 63 - (uint64_t) __builtin_clzll(number);
}

#endif
