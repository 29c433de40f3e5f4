/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_T performance variables: views of the component's counters. */
#include "coll_optcast_pvars.h"

#include "opal/mca/base/mca_base_pvar.h"

#include "coll_optcast_state.h"

/* Open MPI shows what was added since a handle was allocated, but of what may fall how much it is. */
void mca_coll_optcast_pvars_register(void)
{
    mca_coll_optcast_state_t *st = &mca_coll_optcast_state;

    for (unsigned i = 0; i < oc_counter_count; i++) {
        const oc_counter_t *counter = &oc_counter_table[i];

        (void) mca_base_component_pvar_register(
            st->component, counter->name, counter->help, OPAL_INFO_LVL_4,
            counter->may_fall ? MCA_BASE_PVAR_CLASS_LEVEL : MCA_BASE_PVAR_CLASS_COUNTER,
            MCA_BASE_VAR_TYPE_UNSIGNED_LONG_LONG, NULL, MCA_BASE_VAR_BIND_NO_OBJECT,
            MCA_BASE_PVAR_FLAG_READONLY | MCA_BASE_PVAR_FLAG_CONTINUOUS, NULL, NULL, NULL,
            (char *) &st->counters + counter->offset);
    }
}

void mca_coll_optcast_count_fallback(oc_fallback_t reason)
{
    oc_count_fallback(&mca_coll_optcast_state.counters, reason, opal_using_threads());
}
