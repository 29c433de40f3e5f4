/* SPDX-License-Identifier: BSD-3-Clause */
/* What mode auto offloads: by size, and by where the ranks are. */
#include "coll_optcast_decide.h"

#include "ompi/group/group.h"

#include "coll_optcast_operation.h"
#include "coll_optcast_state.h"

/*
 * With fewer, multicast sends as much as any other way, and gains what that does not make of
 * links.
 */
#define MIN_RANKS 3

static uint64_t find_gather_least(const ompi_group_t *group)
{
    const mca_coll_optcast_state_t *st = &mca_coll_optcast_state;
    uint64_t blocks = (uint64_t) group->grp_proc_count * st->block_least;

    if (group->grp_proc_count < MIN_RANKS) {
        return st->pair_least;
    }
    return blocks > st->cast_least ? blocks : st->cast_least;
}

void mca_coll_optcast_decide_casts(mca_coll_optcast_module_t *m)
{
    const mca_coll_optcast_state_t *st = &mca_coll_optcast_state;
    ompi_group_t *group = m->comm->c_local_group;

    m->bcast_least = m->gather_least = 1;
    if (OC_MODE_AUTO != m->mode) {
        return;
    }
    m->bcast_least = m->gather_least = UINT64_MAX;
    /* if all are on this rank's host, each rank finds that */
    if (ompi_group_have_remote_peers(group)) {
        m->bcast_least = group->grp_proc_count < MIN_RANKS ? UINT64_MAX : st->cast_least;
        m->gather_least = find_gather_least(group);
    }
}

void mca_coll_optcast_decide_module(mca_coll_optcast_module_t *m)
{
    const mca_coll_optcast_state_t *st = &mca_coll_optcast_state;
    bool one_host;

    if (OC_MODE_AUTO != m->mode) {
        return;
    }
    /* if all are on this rank's host, each rank finds that */
    one_host = !ompi_group_have_remote_peers(m->comm->c_local_group);
    for (int ruled = 0; ruled < OC_NUM_RULED; ruled++) {
        m->least[ruled] = oc_least_find(&st->least[ruled], (uint32_t) ompi_comm_size(m->comm),
                                        one_host);
    }
}

oc_fallback_t mca_coll_optcast_left(const oc_group_t *group, const mca_coll_optcast_call_t *call)
{
    if (oc_group_leaves(group, call->operation->ruled, call->oc_type, call->bytes)) {
        return OC_FALLBACK_SIZE;
    }
    if (OC_GROUP_DECLINED != oc_group_state(group)) {
        return OC_FALLBACK_NONE;
    }
    return oc_group_leaves_all(group) ? OC_FALLBACK_PLACE : OC_FALLBACK_SETUP;
}

oc_fallback_t mca_coll_optcast_decide_cast(const mca_coll_optcast_module_t *m, uint64_t least,
                                           size_t total)
{
    if (UINT64_MAX == least) {
        return OC_FALLBACK_PLACE;
    }
    if (0 == total || total < least) {
        return OC_FALLBACK_SIZE;
    }
    return NULL == m->services[OC_SERVICE_MULTICAST].group ? OC_FALLBACK_RANKS : OC_FALLBACK_NONE;
}
