/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * HAN, where communicators have it before us. It calls blocking collectives of communicators of its
 * own. Those are not the application's, and not for us: they would begin set-ups inside an
 * operation that was left to Open MPI, and be counted. What Open MPI's progress begins meanwhile is
 * for other operations, in an order that differs between ranks, and never blocks.
 *
 * Where that of 4.1 finds that it cannot work with a communicator (one rank on each host, unequal
 * numbers of them) it puts the functions that it had before into the communicator in place of its
 * own, and then calls what is there (HAN_LOAD_FALLBACK_COLLECTIVES in coll_han.h): if we are there,
 * that is us, with a module that is not ours, or without end. So while it works it is shown what it
 * expects, and what it leaves there is what we have before us then. Later versions of HAN call what
 * they had before.
 */
#include "coll_optcast_han.h"

#include "coll_optcast_functions.h"
#include "coll_optcast_previous.h"

/* Calls of HAN by this thread that are under way. */
static _Thread_local unsigned calls;

bool mca_coll_optcast_han_is_mine(void)
{
    return 0 != calls;
}

static bool is_han(const mca_coll_base_module_t *module)
{
    return NULL != module
           && 0 == strcmp(module->super.obj_class->cls_name, "mca_coll_han_module_t");
}

void mca_coll_optcast_han_find(mca_coll_optcast_module_t *m)
{
    m->over_han = false;
#define X(fn) m->over_han = m->over_han || is_han(m->prev_##fn##_module);
    OC_FOREACH_SAVED(X)
#undef X
}

#if OC_HAN_CALLS_COMMUNICATOR

/* Our functions that give way; NULL: it is not ours that the communicator has. */
typedef struct {
#define X(fn) mca_coll_base_module_##fn##_fn_t fn;
    OC_FOREACH_SAVED(X)
#undef X
} shown_t;

/* The communicator's references of modules and ours change places with the modules. */
static shown_t show(mca_coll_optcast_module_t *m)
{
    struct mca_coll_base_comm_coll_t *coll = m->comm->c_coll;
    shown_t shown = {NULL};

#define X(fn)                                                                     \
    if (NULL != m->prev_##fn##_module && &m->super == coll->coll_##fn##_module) { \
        shown.fn = coll->coll_##fn;                                               \
        coll->coll_##fn = m->prev_##fn;                                           \
        coll->coll_##fn##_module = m->prev_##fn##_module;                         \
    }
    OC_FOREACH_SAVED(X)
#undef X
    return shown;
}

static void hide(mca_coll_optcast_module_t *m, const shown_t *shown)
{
    struct mca_coll_base_comm_coll_t *coll = m->comm->c_coll;

#define X(fn)                                             \
    if (NULL != shown->fn) {                              \
        m->prev_##fn = coll->coll_##fn;                   \
        m->prev_##fn##_module = coll->coll_##fn##_module; \
        coll->coll_##fn = shown->fn;                      \
        coll->coll_##fn##_module = &m->super;             \
    }
    OC_FOREACH_SAVED(X)
#undef X
    mca_coll_optcast_han_find(m);
}

#else

typedef bool shown_t;

static shown_t show(mca_coll_optcast_module_t *m)
{
    (void) m;
    return false;
}

static void hide(mca_coll_optcast_module_t *m, const shown_t *shown)
{
    (void) m;
    (void) shown;
}

#endif

int mca_coll_optcast_han_call(mca_coll_optcast_module_t *m, const mca_coll_optcast_call_t *call)
{
    mca_coll_optcast_state_t *st = &mca_coll_optcast_state;
    shown_t shown;
    int rc;

    atomic_fetch_add(&st->han_calls, 1);
    calls++;
    shown = show(m);
    rc = mca_coll_optcast_previous(m, call);
    hide(m, &shown);
    calls--;
    atomic_fetch_sub(&st->han_calls, 1);
    return rc;
}
