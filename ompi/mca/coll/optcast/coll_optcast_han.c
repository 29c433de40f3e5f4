/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * HAN of Open MPI 4.1, where communicators have it before us. Where it finds that it cannot work with a
 * communicator (one rank on each host, unequal numbers of them) it puts the functions that it had before
 * into the communicator in place of its own, and then calls what is there (HAN_LOAD_FALLBACK_COLLECTIVES in
 * coll_han.h): if we are there, that is us, with a module that is not ours, or without end. So while it works it is
 * shown what it expects, and what it leaves there is what we have before us then. Later versions of HAN call
 * what they had before.
 */
#include "coll_optcast.h"

#if OC_HAN_CALLS_COMMUNICATOR

static bool is_han(const mca_coll_base_module_t *module)
{
    return NULL != module && 0 == strcmp(module->super.obj_class->cls_name, "mca_coll_han_module_t");
}

void mca_coll_optcast_han_find(mca_coll_optcast_module_t *m)
{
    m->over_han = false;
#define X(fn) m->over_han = m->over_han || is_han(m->prev_##fn##_module);
    OC_FOREACH_SAVED(X)
#undef X
}

enum {
#define X(fn) BIT_##fn,
    OC_FOREACH_SAVED(X)
#undef X
};

/* The communicator's references of modules and ours change places with the modules. */
void mca_coll_optcast_han_show(mca_coll_optcast_module_t *m)
{
    struct mca_coll_base_comm_coll_t *coll = m->comm->c_coll;

    m->shown = 0;
    if (!m->over_han) {
        return;
    }
#define X(fn)                                                                    \
    if (NULL != m->prev_##fn##_module && &m->super == coll->coll_##fn##_module) { \
        coll->coll_##fn = m->prev_##fn;                                          \
        coll->coll_##fn##_module = m->prev_##fn##_module;                        \
        m->shown |= 1u << BIT_##fn;                                              \
    }
    OC_FOREACH_SAVED(X)
#undef X
}

void mca_coll_optcast_han_hide(mca_coll_optcast_module_t *m)
{
    struct mca_coll_base_comm_coll_t *coll = m->comm->c_coll;

    if (!m->over_han) {
        return;
    }
#define X(fn)                                             \
    if (0 != (m->shown & 1u << BIT_##fn)) {               \
        m->prev_##fn = coll->coll_##fn;                   \
        m->prev_##fn##_module = coll->coll_##fn##_module; \
        coll->coll_##fn = mca_coll_optcast_##fn;          \
        coll->coll_##fn##_module = &m->super;             \
    }
    OC_FOREACH_SAVED(X)
#undef X
    mca_coll_optcast_han_find(m);
}

#else

void mca_coll_optcast_han_find(mca_coll_optcast_module_t *m)
{
    m->over_han = false;
}

void mca_coll_optcast_han_show(mca_coll_optcast_module_t *m)
{
    (void) m;
}

void mca_coll_optcast_han_hide(mca_coll_optcast_module_t *m)
{
    (void) m;
}

#endif
