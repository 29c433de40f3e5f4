/* SPDX-License-Identifier: BSD-3-Clause */
/* The counters of a process, under the names by which people and tools ask for them. */
#ifndef OC_ADAPTER_COUNTERS_H
#define OC_ADAPTER_COUNTERS_H

#include <stdbool.h>
#include <stddef.h>

#include "adapter/fallback.h"
#include "client/client.h"

typedef struct {
    oc_counters_t engine;
    unsigned long long fallbacks;       /* operations left to the MPI library … */
    unsigned long long fallback_reasons[OC_FALLBACK_END]; /* … and why */
    unsigned long long setup_messages;  /* sent to other ranks for set-ups; by MPICH itself: 0 */
    unsigned long long setup_bytes;
} oc_adapter_counters_t;

typedef struct {
    const char *name, *help;
    size_t offset;                      /* of an unsigned long long in oc_adapter_counters_t */
    bool may_fall;                      /* others only count up */
} oc_counter_t;

extern const oc_counter_t oc_counter_table[];
extern const unsigned oc_counter_count;

/* concurrent: threads may count at the same time. */
void oc_count_fallback(oc_adapter_counters_t *counters, oc_fallback_t reason, bool concurrent);

#endif
