/* SPDX-License-Identifier: BSD-3-Clause */
/* What mode auto offloads: by size, and by where the ranks are. */
#include "coll_optcast_decide.h"

#include "ompi/group/group.h"

#include "adapter/reason.h"

#include "coll_optcast_operation.h"
#include "coll_optcast_state.h"

/* If all are on this rank's host, each rank finds that. */
static bool is_one_host(const mca_coll_optcast_module_t *m)
{
    return !ompi_group_have_remote_peers(m->comm->c_local_group);
}

void mca_coll_optcast_decide_casts(mca_coll_optcast_module_t *m)
{
    const oc_terms_t *terms = &mca_coll_optcast_state.terms;
    uint32_t ranks = (uint32_t) ompi_comm_size(m->comm);

    m->bcast_least = m->gather_least = 1;
    if (OC_MODE_AUTO == m->mode) {
        m->bcast_least = oc_terms_bcast_least(terms, ranks, is_one_host(m));
        m->gather_least = oc_terms_gather_least(terms, ranks, is_one_host(m));
    }
}

void mca_coll_optcast_decide_module(mca_coll_optcast_module_t *m)
{
    const oc_terms_t *terms = &mca_coll_optcast_state.terms;

    if (OC_MODE_AUTO != m->mode) {
        return;
    }
    for (int ruled = 0; ruled < OC_NUM_RULED; ruled++) {
        m->least[ruled] = oc_least_find(&terms->least[ruled],
                                        (uint32_t) ompi_comm_size(m->comm), is_one_host(m));
    }
}

oc_fallback_t mca_coll_optcast_left(const oc_group_t *group, const mca_coll_optcast_call_t *call)
{
    return oc_reason_of(group, call->operation->ruled, call->oc_type, call->bytes);
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
