/* SPDX-License-Identifier: BSD-3-Clause */
/* Which functions of MPI a module takes over, as lists of names. */
#ifndef MCA_COLL_OPTCAST_FUNCTIONS_H
#define MCA_COLL_OPTCAST_FUNCTIONS_H

/* The functions that are always taken over. */
#define OC_FOREACH_REDUCED(X) \
    X(allreduce)              \
    X(iallreduce)             \
    X(allreduce_init)         \
    X(reduce)                 \
    X(ireduce)                \
    X(reduce_init)            \
    X(reduce_scatter_block)   \
    X(ireduce_scatter_block)  \
    X(reduce_scatter_block_init) \
    X(reduce_scatter)         \
    X(ireduce_scatter)        \
    X(reduce_scatter_init)    \
    X(barrier)                \
    X(ibarrier)               \
    X(barrier_init)

/* These only if multicast is not off. */
#define OC_FOREACH_CAST(X) \
    X(allgather)           \
    X(iallgather)          \
    X(allgather_init)      \
    X(allgatherv)          \
    X(iallgatherv)         \
    X(allgatherv_init)     \
    X(bcast)               \
    X(ibcast)              \
    X(bcast_init)

#define OC_FOREACH_SAVED(X) \
    OC_FOREACH_REDUCED(X)   \
    OC_FOREACH_CAST(X)

#endif
