/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_T performance variables: views of the component's counters. */
#include "coll_optcast.h"

#include "opal/mca/base/mca_base_pvar.h"

/*
 * Class LEVEL and not COUNTER: Open MPI shows counters relative to the moment when a handle was
 * allocated, and these are totals of the process whenever somebody looks.
 */
static void pvar(const char *name, const char *help, unsigned long long *value)
{
    (void) mca_base_component_pvar_register(
        &mca_coll_optcast_component.super.collm_version, name, help, OPAL_INFO_LVL_4,
        MCA_BASE_PVAR_CLASS_LEVEL, MCA_BASE_VAR_TYPE_UNSIGNED_LONG_LONG, NULL,
        MCA_BASE_VAR_BIND_NO_OBJECT,
        MCA_BASE_PVAR_FLAG_READONLY | MCA_BASE_PVAR_FLAG_CONTINUOUS, NULL, NULL, NULL, value);
}

void mca_coll_optcast_pvars_register(void)
{
    mca_coll_optcast_component_t *cm = &mca_coll_optcast_component;
    oc_counters_t *counters = &cm->counters;
    unsigned long long *reasons = cm->fallback_reasons;

    pvar("allreduce_offloaded", "Allreduces that servers finished",
         &counters->allreduce_offloaded);
    pvar("fallbacks", "Operations left to the previous module", &cm->fallbacks);
    pvar("fallbacks_op", "Fallbacks: operation not offered", &reasons[OC_FALLBACK_OP]);
    pvar("fallbacks_type", "Fallbacks: datatype not offered", &reasons[OC_FALLBACK_TYPE]);
    pvar("fallbacks_ranks", "Fallbacks: more ranks than max_ranks",
         &reasons[OC_FALLBACK_RANKS]);
    pvar("fallbacks_size", "Fallbacks: too small for mode auto", &reasons[OC_FALLBACK_SIZE]);
    pvar("fallbacks_setup", "Fallbacks: the communicator has no service",
         &reasons[OC_FALLBACK_SETUP]);
    pvar("fallbacks_order", "Fallbacks: nonblocking MAX or MIN of at most two integers",
         &reasons[OC_FALLBACK_ORDER]);
    pvar("bytes_sent", "Payload sent to servers, in bytes", &counters->bytes_sent);
    pvar("bytes_received", "Payload received from servers, in bytes",
         &counters->bytes_received);
    pvar("bytes_copied", "Payload copied inside the process, in bytes",
         &counters->bytes_copied);
    pvar("messages_sent", "Data messages sent to servers", &counters->messages_sent);
    pvar("messages_resent", "Of those, sent again to servers that had no room before",
         &counters->messages_resent);
    pvar("chunks", "Chunks of large vectors sent", &counters->chunks);
    pvar("groups", "Communicators that got service", &counters->groups);
    pvar("failures", "Offloaded operations that ended with an error", &counters->failures);
}

void mca_coll_optcast_count_fallback(oc_fallback_t reason)
{
    mca_coll_optcast_component_t *cm = &mca_coll_optcast_component;

    (void) __atomic_fetch_add(&cm->fallbacks, 1, __ATOMIC_RELAXED);
    (void) __atomic_fetch_add(&cm->fallback_reasons[reason], 1, __ATOMIC_RELAXED);
}
