/* SPDX-License-Identifier: BSD-3-Clause */
/* What is offloaded of that which multicast can carry: bytes of any kind. */
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
