/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reproducible random numbers: splitmix64 (G. Steele, D. Lea, C. Flood, "Fast Splittable
 * Pseudorandom Number Generators", OOPSLA 2014). Not for secrets.
 */
#ifndef OC_TESTS_RANDOM_H
#define OC_TESTS_RANDOM_H

#include <stdbool.h>
#include <stdint.h>

/* Any state will do to begin with; equal ones give equal numbers. */
typedef struct {
    uint64_t state;
} oc_random_t;

static inline uint64_t oc_random(oc_random_t *random)
{
    uint64_t x = random->state += 0x9e3779b97f4a7c15ull;

    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
    x = (x ^ x >> 27) * 0x94d049bb133111ebull;
    return x ^ x >> 31;
}

/* From 0 to limit - 1; limit must not be 0. */
static inline uint64_t oc_random_below(oc_random_t *random, uint64_t limit)
{
    return oc_random(random) % limit;
}

/* True with this probability. */
static inline bool oc_random_chance(oc_random_t *random, double probability)
{
    return (double) (oc_random(random) >> 11) * 0x1p-53 < probability;
}

#endif
