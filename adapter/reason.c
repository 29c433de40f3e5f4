/* SPDX-License-Identifier: BSD-3-Clause */
/* From states of groups to reasons. */
#include "adapter/reason.h"

oc_fallback_t oc_reason_of(const oc_group_t *group, oc_ruled_t ruled, unsigned type,
                             uint64_t bytes)
{
    if (oc_group_leaves(group, ruled, type, bytes)) {
        return OC_FALLBACK_SIZE;
    }
    if (OC_GROUP_DECLINED != oc_group_state(group)) {
        return OC_FALLBACK_NONE;
    }
    return oc_group_leaves_all(group) ? OC_FALLBACK_PLACE : OC_FALLBACK_SETUP;
}
