/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Calls that go on to the function before us. MPI's blocking functions look here first whether mode
 * auto leaves vectors as small as this one, and nothing else is done for the call then: what is beside
 * it counts in operations of half a microsecond, and more so in those of fifty, which find little of it
 * in the processor's caches.
 */
#ifndef MCA_COLL_OPTCAST_PASS_H
#define MCA_COLL_OPTCAST_PASS_H

#include "coll_optcast_compat.h"

#include "coll_optcast_fallback.h"
#include "coll_optcast_module.h"

/* Counts a call of the function before us as begun (1) or ended (-1): see inside. */
static inline void mca_coll_optcast_go_inside(mca_coll_optcast_module_t *m, int by)
{
    if (opal_using_threads()) {
        (void) atomic_fetch_add(&m->inside, by);
    } else {
        atomic_store_explicit(&m->inside,
                              atomic_load_explicit(&m->inside, memory_order_relaxed) + by,
                              memory_order_relaxed);
    }
}

/* The same of one that mode auto leaves. reason: to be counted. */
bool mca_coll_optcast_pass(mca_coll_optcast_module_t *m, oc_fallback_t reason, bool has_buffers);

/*
 * Whether the caller is to call the function before us at once, with the arguments that it has, and
 * then mca_coll_optcast_pass_end. The call is counted then. least: bytes; what is smaller is left.
 */
static inline bool mca_coll_optcast_pass_begin(mca_coll_optcast_module_t *m, uint64_t least,
                                               uint64_t bytes, bool has_buffers)
{
    return bytes < least
           && mca_coll_optcast_pass(
               m, UINT64_MAX == least ? OC_FALLBACK_PLACE : OC_FALLBACK_SIZE, has_buffers);
}

static inline void mca_coll_optcast_pass_end(mca_coll_optcast_module_t *m)
{
    mca_coll_optcast_go_inside(m, -1);
}

#endif
