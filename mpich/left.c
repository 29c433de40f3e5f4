/* SPDX-License-Identifier: BSD-3-Clause */
/* The latest shapes of each function, by the last bits of their counts. */
#include "mpich/left.h"

#include "mpich/handles.h"

void oc_mpich_left_add_all(oc_mpich_left_t *left, oc_mpich_kind_t kind, oc_fallback_t why)
{
    left->whole[kind] = true;
    left->why[kind] = why;
}

void oc_mpich_left_add(oc_mpich_left_t *left, oc_mpich_kind_t kind, oc_mpich_shape_t shape,
                       oc_fallback_t why)
{
    unsigned place = oc_mpich_left_place(shape.count);

    if (oc_mpich_is_builtin(shape.type) && (0 == shape.op || oc_mpich_is_builtin(shape.op))) {
        left->shapes[kind][place].shape = shape;
        left->shapes[kind][place].why = why;
    }
}
