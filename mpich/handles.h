/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Whether an argument of the program can be a handle: whoever passes anything else hears of it from the
 * function that it has called, not from one that is called in here. By the binary interface that MPICH
 * and its relatives share: two bits for where the object lies, 0 if there is none, then four for what it is.
 */
#ifndef OC_MPICH_HANDLES_H
#define OC_MPICH_HANDLES_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>

static inline bool oc_mpich_is_handle(int handle, unsigned kind)
{
    unsigned bits = (unsigned) handle;

    return 0 != bits >> 30 && kind == (bits >> 26 & 0xf);
}

/* Of the library itself: it never becomes another one's. */
static inline bool oc_mpich_is_builtin(int handle)
{
    return 1 == (unsigned) handle >> 30;
}

static inline bool oc_mpich_is_comm(int comm)
{
    return oc_mpich_is_handle(comm, 1);
}

static inline bool oc_mpich_is_type(int type)
{
    return oc_mpich_is_handle(type, 3);
}

static inline bool oc_mpich_is_op(int op)
{
    return oc_mpich_is_handle(op, 6);
}

/*
 * Whether a buffer of so many elements is missing, which only MPICH is to say. At address 0 are also elements that
 * a type of the program's own places by their absolute addresses.
 */
static inline bool oc_mpich_is_missing(const void *buffer, long long count, int type)
{
    return NULL == buffer && count > 0 && oc_mpich_is_builtin(type);
}

#endif
