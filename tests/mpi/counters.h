/* SPDX-License-Identifier: BSD-3-Clause */
/* What the component's counters moved by, compared with what they should have. */
#ifndef TESTS_MPI_COUNTERS_H
#define TESTS_MPI_COUNTERS_H

#include "check.h"
#include "pvars.h"

/* A new reason to fall back gets a line here: the total is compared with the sum of these. */
#define FOREACH_FALLBACK(X) \
    X(fallbacks_op)         \
    X(fallbacks_type)       \
    X(fallbacks_ranks)      \
    X(fallbacks_size)       \
    X(fallbacks_place)      \
    X(fallbacks_setup)      \
    X(fallbacks_order)

#define FOREACH_COUNTER(X)  \
    X(allreduce_offloaded)  \
    X(allgather_offloaded)  \
    X(bcast_offloaded)      \
    FOREACH_FALLBACK(X)     \
    X(groups)               \
    X(failures)

/* Not compared: Open MPI's own operations for new communicators move fallbacks_order. */
#define ANY (~0ull)

typedef struct {
#define X(name) unsigned long long name;
    FOREACH_COUNTER(X)
#undef X
    unsigned long long fallbacks;
} counters_t;

static inline counters_t counters_read(void)
{
    counters_t now = {.fallbacks = pvar_read("fallbacks")};

#define X(name) now.name = pvar_read(#name);
    FOREACH_COUNTER(X)
#undef X
    return now;
}

static inline void counter_compare(const char *what, const char *name, unsigned long long moved,
                                   unsigned long long expected)
{
    if (ANY != expected && moved != expected) {
        wrong("%s: %s moved by %llu instead of %llu", what, name, moved, expected);
    }
}

/* Every counter of the list has moved since before by what is expected, and no other fallbacks. */
static inline void counters_moved(const char *what, const counters_t *before, counters_t expected)
{
    counters_t now = counters_read();

    expected.fallbacks = 0;
#define X(name) expected.fallbacks += now.name - before->name;
    FOREACH_FALLBACK(X)
#undef X
#define X(name) counter_compare(what, #name, now.name - before->name, expected.name);
    FOREACH_COUNTER(X)
    X(fallbacks)
#undef X
}

#endif
