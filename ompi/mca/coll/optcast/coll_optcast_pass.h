/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Calls that go on to the function before us. MPI's blocking functions look here first whether the
 * vector is smaller than all that may ever be offloaded, and do nothing else for the call then: our
 * work shows in an operation of half a microsecond, and more in one of fifty, by when our code and
 * data have left the processor's caches.
 */
#ifndef MCA_COLL_OPTCAST_PASS_H
#define MCA_COLL_OPTCAST_PASS_H

#include "coll_optcast_compat.h"

#include "adapter/fallback.h"

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

/*
 * Counts the call, for that reason, and as begun. false: it has to take the long way, and nothing
 * was counted.
 */
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

/* The same where the size of the vector is not known yet: if no size is offloaded. */
static inline bool mca_coll_optcast_pass_begin_unsized(mca_coll_optcast_module_t *m, uint64_t least)
{
    return UINT64_MAX == least && mca_coll_optcast_pass(m, OC_FALLBACK_PLACE, true);
}

static inline void mca_coll_optcast_pass_end(mca_coll_optcast_module_t *m)
{
    mca_coll_optcast_go_inside(m, -1);
}

#endif
