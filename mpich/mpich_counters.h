/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The library's counters for programs that look for them: MPICH lets no tool add performance variables. Names and
 * meaning are those of Open MPI's component, without coll_optcast_.
 */
#ifndef OC_MPICH_COUNTERS_H
#define OC_MPICH_COUNTERS_H

/* A counter of this process, as it is now. Any thread, at any time; to be found by dlsym. */
typedef struct {
    const char *name;
    unsigned long long value;
} optcast_mpi_counter_t;

/*
 * Fills in at most so many, and returns how many there are. Names are static. May be called by any thread;
 * what others count meanwhile may be missing.
 */
unsigned optcast_mpi_counters(optcast_mpi_counter_t *counters, unsigned most)
    __attribute__((visibility("default")));

#endif
