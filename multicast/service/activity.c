/* SPDX-License-Identifier: BSD-3-Clause */
/* Which groups are busy, and which of them are progressed. */
#include "multicast/service/activity.h"

#include <assert.h>
#include <utlist.h>

void oc_cast_member_wake(oc_cast_member_t *member)
{
    member->due = 0;
    if (!member->listed) {
        member->listed = true;
        DL_APPEND2(member->multicast->active, member, active_prev, active_next);
    }
}

static void count_busy(oc_cast_member_t *member, bool busy)
{
    assert(busy != member->busy && (busy || member->multicast->num_busy > 0));
    member->busy = busy;
    member->multicast->num_busy += busy ? 1u : -1u;
    if (NULL != member->slot) {
        assert(busy || member->slot->listeners > 0);
        member->slot->listeners += busy ? 1u : -1u;
    }
}

void oc_cast_member_look(oc_cast_member_t *member)
{
    bool busy = OC_IN_PROGRESS == oc_cast_group_ready(member->core)
                || oc_cast_pending(member->core) > 0;

    if (busy != member->busy) {
        count_busy(member, busy);
    }
}

void oc_cast_member_rest(oc_cast_member_t *member)
{
    assert(member->listed);
    member->listed = false;
    DL_DELETE2(member->multicast->active, member, active_prev, active_next);
}

void oc_cast_member_retire(oc_cast_member_t *member)
{
    if (member->busy) {
        count_busy(member, false);
    }
    if (member->listed) {
        oc_cast_member_rest(member);
    }
}

void oc_members_take_turns(oc_multicast_t *multicast)
{
    oc_cast_member_t *first = multicast->active;

    if (NULL != first && NULL != first->active_next) {
        DL_DELETE2(multicast->active, first, active_prev, active_next);
        DL_APPEND2(multicast->active, first, active_prev, active_next);
    }
}
