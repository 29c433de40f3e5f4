/* SPDX-License-Identifier: BSD-3-Clause */
/* Counters for programs that look for them. */
#include "mpich/mpich_counters.h"

#include "adapter/counters.h"

#include "mpich/state.h"

unsigned optcast_mpi_counters(optcast_mpi_counter_t *counters, unsigned most)
{
    const char *values = (const char *) &oc_mpich_state.counters;

    for (unsigned i = 0; i < oc_counter_count && i < most; i++) {
        counters[i].name = oc_counter_table[i].name;
        counters[i].value = __atomic_load_n(
            (const unsigned long long *) (values + oc_counter_table[i].offset), __ATOMIC_RELAXED);
    }
    return oc_counter_count;
}
