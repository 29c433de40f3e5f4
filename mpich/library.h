/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The MPI library of this process: whether it is MPICH or one with its binary interface, and the
 * functions that come after ours. Any thread. Does not know mpi.h.
 */
#ifndef OC_MPICH_LIBRARY_H
#define OC_MPICH_LIBRARY_H

#include <stdatomic.h>
#include <stdbool.h>

typedef enum { OC_LIBRARY_UNKNOWN, OC_LIBRARY_OURS, OC_LIBRARY_FOREIGN } oc_library_t;

extern _Atomic(oc_library_t) oc_mpich_library_known;

/* Looks which one it is. Says a line if it is another one. */
bool oc_mpich_library_look(void);

/* Whether the library's handles and constants are those that this was compiled for. */
static inline bool oc_mpich_library_is_ours(void)
{
    oc_library_t known = atomic_load_explicit(&oc_mpich_library_known, memory_order_relaxed);

    return OC_LIBRARY_OURS == known || (OC_LIBRARY_UNKNOWN == known && oc_mpich_library_look());
}

/*
 * The function of that name behind this object: the library's, or that of another tool. cache: NULL at
 * first. Ends the process if there is none, as the dynamic linker would have done.
 */
void *oc_mpich_library_next(_Atomic(void *) *cache, const char *name);

#endif
