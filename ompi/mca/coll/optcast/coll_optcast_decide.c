/* SPDX-License-Identifier: BSD-3-Clause */
/* What mode auto offloads: by size, and by where the ranks are. */
#include "coll_optcast.h"

#include "ompi/group/group.h"

/* With fewer, multicast sends as much as any other way. */
#define MIN_RANKS 3

bool mca_coll_optcast_is_spread(const ompi_communicator_t *comm)
{
    ompi_group_t *group = comm->c_local_group;

    /* if all are on this rank's host, each rank finds that */
    return group->grp_proc_count >= MIN_RANKS && ompi_group_have_remote_peers(group);
}

void mca_coll_optcast_decide_module(mca_coll_optcast_module_t *m)
{
    const mca_coll_optcast_component_t *cm = &mca_coll_optcast_component;
    ompi_group_t *group = m->comm->c_local_group;

    if (OC_MODE_AUTO != m->mode) {
        return;
    }
    m->chooses = 0 == cm->settings.min_size;
    /* if all are on this rank's host, each rank finds that */
    m->least = m->chooses ? oc_least_find(&cm->least, (uint32_t) ompi_comm_size(m->comm),
                                          !ompi_group_have_remote_peers(group))
                          : cm->settings.min_size;
}

oc_fallback_t mca_coll_optcast_left(const oc_group_t *group, const mca_coll_optcast_call_t *call)
{
    if (oc_group_leaves(group, call->oc_type, call->bytes)) {
        return OC_FALLBACK_SIZE;
    }
    if (OC_GROUP_DECLINED != oc_group_state(group)) {
        return OC_FALLBACK_NONE;
    }
    return oc_group_leaves_all(group) ? OC_FALLBACK_PLACE : OC_FALLBACK_SETUP;
}

oc_fallback_t mca_coll_optcast_decide_cast(const mca_coll_optcast_module_t *m, size_t total)
{
    size_t least = 1;

    if (OC_MODE_AUTO == m->mode) {
        if (!m->spread) {
            return OC_FALLBACK_PLACE;
        }
        least = mca_coll_optcast_component.settings.multicast_min_size;
    }
    if (NULL == m->services[OC_SERVICE_MULTICAST].group) {
        return OC_FALLBACK_RANKS;
    }
    return 0 == total || total < least ? OC_FALLBACK_SIZE : OC_FALLBACK_NONE;
}
