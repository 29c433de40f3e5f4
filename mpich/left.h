/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Calls that were left to MPICH and will be left again, found before anything is made of their arguments: programs
 * call the same again and again. Threads: those of one communicator's collectives, which MPI lets none overlap.
 */
#ifndef OC_MPICH_LEFT_H
#define OC_MPICH_LEFT_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

#include "adapter/fallback.h"

/* Functions of MPI, with their nonblocking forms. */
typedef enum {
    OC_MPICH_ALLREDUCE,
    OC_MPICH_REDUCE,
    OC_MPICH_REDUCE_SCATTER_BLOCK,
    OC_MPICH_REDUCE_SCATTER,
    OC_MPICH_ALLGATHER,
    OC_MPICH_ALLGATHERV,
    OC_MPICH_BCAST,
    OC_MPICH_NUM_KINDS,
} oc_mpich_kind_t;

/* What decides about a call, but for the function. Without op: 0. */
typedef struct {
    int64_t count;
    int type, op;
} oc_mpich_shape_t;

/* Of calls with more than one count. */
#define OC_MPICH_NO_SHAPE ((oc_mpich_shape_t) {.count = -1})

/* A power of two. */
#define OC_MPICH_LEFT_SHAPES 4

typedef struct {
    bool whole[OC_MPICH_NUM_KINDS]; /* all calls of the function, for this reason: */
    oc_fallback_t why[OC_MPICH_NUM_KINDS]; /* OC_FALLBACK_NONE: not to be counted */
    struct {
        oc_mpich_shape_t shape; /* its type is never 0 */
        oc_fallback_t why;
    } shapes[OC_MPICH_NUM_KINDS][OC_MPICH_LEFT_SHAPES];
} oc_mpich_left_t;

static inline unsigned oc_mpich_left_place(int64_t count)
{
    return (unsigned) count & (OC_MPICH_LEFT_SHAPES - 1);
}

/* Whether it is known that such a call is left, and why. */
static inline bool oc_mpich_left_has(const oc_mpich_left_t *left, oc_mpich_kind_t kind,
                                     oc_mpich_shape_t shape, oc_fallback_t *why)
{
    unsigned place = oc_mpich_left_place(shape.count);
    const oc_mpich_shape_t *known = &left->shapes[kind][place].shape;

    if (left->whole[kind]) {
        *why = left->why[kind];
        return true;
    }
    *why = left->shapes[kind][place].why;
    return shape.type == known->type && shape.count == known->count && shape.op == known->op;
}

/* All calls of the function, for ever. */
void oc_mpich_left_add_all(oc_mpich_left_t *left, oc_mpich_kind_t kind, oc_fallback_t why);
/*
 * Those of this shape, for ever. Shapes whose type or op the program may free, and make anew as something else, are not
 * kept.
 */
void oc_mpich_left_add(oc_mpich_left_t *left, oc_mpich_kind_t kind, oc_mpich_shape_t shape,
                       oc_fallback_t why);

#endif
