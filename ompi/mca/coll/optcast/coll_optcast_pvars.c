/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_T performance variables: views of the component's counters. */
#include "coll_optcast_pvars.h"

#include "opal/mca/base/mca_base_pvar.h"

#include "coll_optcast_state.h"

static void register_pvar(const char *name, const char *help, int class,
                          unsigned long long *value)
{
    (void) mca_base_component_pvar_register(
        mca_coll_optcast_state.component, name, help, OPAL_INFO_LVL_4, class,
        MCA_BASE_VAR_TYPE_UNSIGNED_LONG_LONG, NULL, MCA_BASE_VAR_BIND_NO_OBJECT,
        MCA_BASE_PVAR_FLAG_READONLY | MCA_BASE_PVAR_FLAG_CONTINUOUS, NULL, NULL, NULL, value);
}

/* Only grows. Open MPI shows what was added since a handle was allocated. */
static void pvar(const char *name, const char *help, unsigned long long *value)
{
    register_pvar(name, help, MCA_BASE_PVAR_CLASS_COUNTER, value);
}

/* May fall, too. */
static void level(const char *name, const char *help, unsigned long long *value)
{
    register_pvar(name, help, MCA_BASE_PVAR_CLASS_LEVEL, value);
}

static void cast_pvars_register(oc_cast_counters_t *cast)
{
    pvar("fragments_sent", "Fragments of blocks sent by multicast", &cast->fragments_sent);
    pvar("fragments_received", "Fragments that came by multicast and were missing",
         &cast->fragments_received);
    pvar("fragments_lost", "Fragments that other ranks were asked for", &cast->fragments_lost);
    pvar("fragments_recovered", "Fragments that came from other ranks and were missing",
         &cast->fragments_recovered);
    pvar("fragments_duplicated", "Fragments that came and were there already",
         &cast->fragments_duplicated);
    pvar("fragments_late", "Fragments of operations that were over", &cast->fragments_late);
    pvar("fragments_foreign", "Datagrams of no group of this process, or malformed",
         &cast->fragments_foreign);
    pvar("datagrams_foreign", "Datagrams from addresses, ports or queue pairs that no rank has",
         &cast->datagrams_foreign);
    pvar("datagrams_forged", "Datagrams whose code did not fit", &cast->datagrams_forged);
    pvar("messages_forged", "Messages between ranks whose code did not fit",
         &cast->messages_forged);
    pvar("blocks_corrupted", "Blocks whose checksum did not fit", &cast->blocks_corrupted);
    pvar("control_messages", "Messages sent to ranks of multicast groups",
         &cast->control_messages);
    pvar("control_bytes", "Bytes of those, without repaired data", &cast->control_bytes);
    pvar("fragments_recast", "Fragments sent again by multicast", &cast->fragments_recast);
    pvar("groups_unicast", "Communicators that go on without multicast", &cast->groups_unicast);
    pvar("repair_bytes", "Data sent to ranks that lacked it, in bytes", &cast->repair_bytes);
    pvar("bytes_shared", "Messages from ranks on this host through shared memory, in bytes",
         &cast->bytes_shared);
    pvar("memberships_renewed", "Memberships in multicast groups that were lost and joined again",
         &cast->memberships_renewed);
    pvar("datagrams_own", "Datagrams of this rank that an RDMA device brought back",
         &cast->datagrams_own);
}

void mca_coll_optcast_pvars_register(void)
{
    mca_coll_optcast_state_t *st = &mca_coll_optcast_state;
    oc_counters_t *counters = &st->counters;
    unsigned long long *reasons = st->fallback_reasons;

    pvar("allreduce_offloaded", "Allreduces that servers finished",
         &counters->allreduce_offloaded);
    pvar("reduce_offloaded", "Reduces that servers finished", &counters->reduce_offloaded);
    pvar("reduce_scatter_offloaded",
         "Reduce_scatters and Reduce_scatter_blocks that servers finished",
         &counters->reduce_scatter_offloaded);
    pvar("barrier_offloaded", "Barriers that servers finished", &counters->barrier_offloaded);
    pvar("allgather_offloaded", "Allgathers and Allgathervs that multicast finished",
         &counters->allgather_offloaded);
    pvar("bcast_offloaded", "Bcasts that multicast finished", &counters->bcast_offloaded);
    pvar("fallbacks", "Operations left to the previous module", &st->fallbacks);
    pvar("fallbacks_op", "Fallbacks: operation not offered", &reasons[OC_FALLBACK_OP]);
    pvar("fallbacks_type", "Fallbacks: datatype not offered", &reasons[OC_FALLBACK_TYPE]);
    pvar("fallbacks_ranks", "Fallbacks: more ranks than max_ranks",
         &reasons[OC_FALLBACK_RANKS]);
    pvar("fallbacks_size", "Fallbacks: faster without, in mode auto", &reasons[OC_FALLBACK_SIZE]);
    pvar("fallbacks_place",
         "Fallbacks: in mode auto, nothing is gained between these ranks",
         &reasons[OC_FALLBACK_PLACE]);
    pvar("fallbacks_setup", "Fallbacks: the communicator has no service",
         &reasons[OC_FALLBACK_SETUP]);
    pvar("fallbacks_order", "Fallbacks: nonblocking, and like what Open MPI does by itself",
         &reasons[OC_FALLBACK_ORDER]);
    pvar("bytes_sent", "Payload sent to servers, in bytes", &counters->bytes_sent);
    pvar("bytes_received", "Payload received from servers, in bytes",
         &counters->bytes_received);
    pvar("bytes_copied", "Payload copied inside the process, in bytes",
         &counters->bytes_copied);
    pvar("bytes_staged", "Payload copied between memory of accelerators and the host's, in bytes",
         &counters->bytes_staged);
    pvar("bytes_node",
         "Payload given to and taken from other ranks of the host through shared memory, in bytes",
         &counters->bytes_node);
    pvar("messages_sent", "Data messages sent to servers", &counters->messages_sent);
    pvar("messages_resent", "Of those, sent again to servers that had no room before",
         &counters->messages_resent);
    pvar("replies_forged", "Replies dropped because no server of the job has made them",
         &counters->replies_forged);
    pvar("chunks", "Chunks of large vectors sent", &counters->chunks);
    pvar("groups", "Communicators that got service", &counters->groups);
    pvar("setup_messages", "Messages sent to other ranks while communicators were set up",
         &st->setup_messages);
    pvar("setup_bytes", "Bytes of those", &st->setup_bytes);
    level("open_sockets", "Listening sockets of UCX that hosts outside the job can connect to, "
         "too, because the kernel refuses to filter them or they were not recognised",
         &counters->open_sockets);
    pvar("servers_flooded", "Servers on which multicast arrives that they have not joined, as this "
         "process has found out, if it is the first one of the job", &counters->servers_flooded);
    pvar("helper_wakes", "Times that the thread woke which moves collectives on while the program "
         "computes", &counters->helper_wakes);
    pvar("failures", "Offloaded operations that ended with an error", &counters->failures);
    cast_pvars_register(&counters->cast);
}

void mca_coll_optcast_count_fallback(oc_fallback_t reason)
{
    mca_coll_optcast_state_t *st = &mca_coll_optcast_state;

    if (!opal_using_threads()) {
        st->fallbacks++;
        st->fallback_reasons[reason]++;
        return;
    }
    (void) __atomic_fetch_add(&st->fallbacks, 1, __ATOMIC_RELAXED);
    (void) __atomic_fetch_add(&st->fallback_reasons[reason], 1, __ATOMIC_RELAXED);
}
