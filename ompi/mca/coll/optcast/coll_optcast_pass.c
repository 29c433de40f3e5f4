/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls that go on to the function before us. */
#include "coll_optcast_pass.h"

#include "coll_optcast_device.h"
#include "coll_optcast_han.h"
#include "coll_optcast_pvars.h"
#include "coll_optcast_state.h"

bool mca_coll_optcast_pass(mca_coll_optcast_module_t *m, oc_fallback_t reason, bool has_buffers)
{
    /* HAN, explanations, and buffers that may be on a device are for the long way */
    if (m->over_han || mca_coll_optcast_state.settings.verbose > 1
        || (has_buffers && mca_coll_optcast_devices_are_used())) {
        return false;
    }
    if (0 == atomic_load_explicit(&m->inside, memory_order_relaxed)
        && !mca_coll_optcast_han_is_calling()) {
        mca_coll_optcast_count_fallback(reason);
    }
    mca_coll_optcast_go_inside(m, 1);
    return true;
}
