/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of counters. */
#include "adapter/counters.h"

#define AT(field)            .offset = offsetof(oc_adapter_counters_t, field)
#define COUNTER(text, field) .name = text, AT(field)
#define LEVEL(text, field)   .name = text, AT(field), .may_fall = true

const oc_counter_t oc_counter_table[] = {
    {COUNTER("allreduce_offloaded", engine.allreduce_offloaded),
     .help = "Allreduces that servers finished"},
    {COUNTER("reduce_offloaded", engine.reduce_offloaded), .help = "Reduces that servers finished"},
    {COUNTER("reduce_scatter_offloaded", engine.reduce_scatter_offloaded),
     .help = "Reduce_scatters and Reduce_scatter_blocks that servers finished"},
    {COUNTER("barrier_offloaded", engine.barrier_offloaded), .help = "Barriers that servers finished"},
    {COUNTER("allgather_offloaded", engine.allgather_offloaded),
     .help = "Allgathers and Allgathervs that multicast finished"},
    {COUNTER("bcast_offloaded", engine.bcast_offloaded), .help = "Bcasts that multicast finished"},
    {COUNTER("fallbacks", fallbacks), .help = "Operations left to the MPI library"},
    {COUNTER("fallbacks_op", fallback_reasons[OC_FALLBACK_OP]), .help = "Fallbacks: operation not offered"},
    {COUNTER("fallbacks_type", fallback_reasons[OC_FALLBACK_TYPE]),
     .help = "Fallbacks: datatype not offered"},
    {COUNTER("fallbacks_ranks", fallback_reasons[OC_FALLBACK_RANKS]),
     .help = "Fallbacks: more ranks than max_ranks"},
    {COUNTER("fallbacks_size", fallback_reasons[OC_FALLBACK_SIZE]),
     .help = "Fallbacks: faster without, in mode auto"},
    {COUNTER("fallbacks_place", fallback_reasons[OC_FALLBACK_PLACE]),
     .help = "Fallbacks: in mode auto, nothing is gained between these ranks"},
    {COUNTER("fallbacks_setup", fallback_reasons[OC_FALLBACK_SETUP]),
     .help = "Fallbacks: the communicator has no service"},
    {COUNTER("fallbacks_order", fallback_reasons[OC_FALLBACK_ORDER]),
     .help = "Fallbacks: nonblocking, and like what Open MPI does by itself, or before MPICH has a"
     " service"},
    {COUNTER("bytes_sent", engine.bytes_sent), .help = "Payload sent to servers, in bytes"},
    {COUNTER("bytes_received", engine.bytes_received), .help = "Payload received from servers, in bytes"},
    {COUNTER("bytes_copied", engine.bytes_copied), .help = "Payload copied inside the process, in bytes"},
    {COUNTER("bytes_staged", engine.bytes_staged),
     .help = "Payload copied between memory of accelerators and the host's, in bytes"},
    {COUNTER("bytes_node", engine.bytes_node),
     .help = "Payload given to and taken from other ranks of the host through shared memory, in "
     "bytes"},
    {COUNTER("messages_sent", engine.messages_sent), .help = "Data messages sent to servers"},
    {COUNTER("messages_resent", engine.messages_resent),
     .help = "Of those, sent again to servers that had no room before"},
    {COUNTER("replies_forged", engine.replies_forged),
     .help = "Replies dropped because no server of the job has made them"},
    {COUNTER("chunks", engine.chunks), .help = "Chunks of large vectors sent"},
    {COUNTER("groups", engine.groups), .help = "Communicators that got service"},
    {COUNTER("setup_messages", setup_messages),
     .help = "Messages sent to other ranks while communicators were set up"},
    {COUNTER("setup_bytes", setup_bytes), .help = "Bytes of those"},
    {LEVEL("open_sockets", engine.open_sockets),
     .help = "Listening sockets of UCX that hosts outside the job can connect to, too, because the"
     " kernel refuses to filter them or they were not recognised"},
    {COUNTER("servers_flooded", engine.servers_flooded),
     .help = "Servers on which multicast arrives that they have not joined, as this process has "
     "found out, if it is the first one of the job"},
    {COUNTER("returns", engine.returns),
     .help = "Servers that communicators had lost, and that came back to them"},
    {COUNTER("recoveries", engine.recoveries),
     .help = "Losses of servers without which collectives went on"},
    {COUNTER("bytes_repeated", engine.bytes_repeated),
     .help = "Bytes of vectors that were reduced again after the loss of a server"},
    {COUNTER("bytes_supplied", engine.bytes_supplied),
     .help = "Bytes of results that came from a rank that had them after the loss of a server"},
    {COUNTER("recovery_time", engine.recovery_time),
     .help = "Microseconds in which some communicator could not go on, as servers were lost or came back"},
    {COUNTER("helper_wakes", engine.helper_wakes),
     .help = "Times that the thread woke which moves collectives on while the program computes"},
    {COUNTER("failures", engine.failures), .help = "Offloaded operations that ended with an error"},
    {COUNTER("fragments_sent", engine.cast.fragments_sent),
     .help = "Fragments of blocks sent by multicast"},
    {COUNTER("fragments_received", engine.cast.fragments_received),
     .help = "Fragments that came by multicast and were missing"},
    {COUNTER("fragments_lost", engine.cast.fragments_lost),
     .help = "Fragments that other ranks were asked for"},
    {COUNTER("fragments_recovered", engine.cast.fragments_recovered),
     .help = "Fragments that came from other ranks and were missing"},
    {COUNTER("fragments_duplicated", engine.cast.fragments_duplicated),
     .help = "Fragments that came and were there already"},
    {COUNTER("fragments_late", engine.cast.fragments_late),
     .help = "Fragments of operations that were over"},
    {COUNTER("fragments_foreign", engine.cast.fragments_foreign),
     .help = "Datagrams of no group of this process, or malformed"},
    {COUNTER("datagrams_foreign", engine.cast.datagrams_foreign),
     .help = "Datagrams from addresses, ports or queue pairs that no rank has"},
    {COUNTER("datagrams_forged", engine.cast.datagrams_forged), .help = "Datagrams whose code did not fit"},
    {COUNTER("messages_forged", engine.cast.messages_forged),
     .help = "Messages between ranks whose code did not fit"},
    {COUNTER("blocks_corrupted", engine.cast.blocks_corrupted),
     .help = "Blocks whose checksum did not fit"},
    {COUNTER("control_messages", engine.cast.control_messages),
     .help = "Messages sent to ranks of multicast groups"},
    {COUNTER("control_bytes", engine.cast.control_bytes), .help = "Bytes of those, without repaired data"},
    {COUNTER("fragments_recast", engine.cast.fragments_recast),
     .help = "Fragments sent again by multicast"},
    {COUNTER("groups_unicast", engine.cast.groups_unicast),
     .help = "Communicators that go on without multicast"},
    {COUNTER("repair_bytes", engine.cast.repair_bytes),
     .help = "Data sent to ranks that lacked it, in bytes"},
    {COUNTER("bytes_shared", engine.cast.bytes_shared),
     .help = "Messages from ranks on this host through shared memory, in bytes"},
    {COUNTER("memberships_renewed", engine.cast.memberships_renewed),
     .help = "Memberships in multicast groups that were lost and joined again"},
    {COUNTER("datagrams_own", engine.cast.datagrams_own),
     .help = "Datagrams of this rank that an RDMA device brought back"},
};

const unsigned oc_counter_count = sizeof(oc_counter_table) / sizeof(oc_counter_table[0]);

void oc_count_fallback(oc_adapter_counters_t *counters, oc_fallback_t reason, bool concurrent)
{
    if (!concurrent) {
        counters->fallbacks++;
        counters->fallback_reasons[reason]++;
        return;
    }
    (void) __atomic_fetch_add(&counters->fallbacks, 1, __ATOMIC_RELAXED);
    (void) __atomic_fetch_add(&counters->fallback_reasons[reason], 1, __ATOMIC_RELAXED);
}
