/* SPDX-License-Identifier: BSD-3-Clause */
/* Which elements are rows of bytes, and moving those that are not. */
#include "mpich/mpich_layout.h"

#include <stdlib.h>

#include "mpich/pmpi.h"
#include "mpich/state.h"

/* A type that is made of another one in one step, as deep as is looked for rows. */
#define MAX_DEPTH 8

size_t oc_mpich_type_bytes(MPI_Datatype type)
{
    MPI_Count size = 0;

    (void) PMPI_Type_size_x(type, &size);
    return size < 0 ? 0 : (size_t) size;
}

/* What a type was made by, and of one other type, which has to be let go; false: it is not told. */
typedef struct {
    MPI_Count integers, addresses, counts, types;
    int combiner;
} envelope_t;

/* In the form that also knows types of large counts: for those the other one is an error. */
static bool open_envelope(MPI_Datatype type, envelope_t *e)
{
    return MPI_SUCCESS == PMPI_Type_get_envelope_c(type, &e->integers, &e->addresses, &e->counts, &e->types,
                                                   &e->combiner);
}

static void let_go(MPI_Datatype type)
{
    envelope_t e;

    if (open_envelope(type, &e) && MPI_COMBINER_NAMED != e.combiner) {
        (void) PMPI_Type_free(&type);
    }
}

/*
 * Whether the bytes of an element follow each other in memory in the order of the type map. MPI does
 * not tell: a predefined type has them so if it is as long as it is large, and so have those that are
 * made of it by repetition.
 */
static bool is_in_order(MPI_Datatype type, int depth)
{
    MPI_Datatype made_of;
    MPI_Count count[1];
    MPI_Aint place[1];
    envelope_t e;
    int number[1];
    bool in_order;

    if (depth > MAX_DEPTH || !open_envelope(type, &e)) {
        return false;
    }
    if (MPI_COMBINER_NAMED == e.combiner) {
        return true;
    }
    if ((MPI_COMBINER_DUP != e.combiner && MPI_COMBINER_CONTIGUOUS != e.combiner)
        || MPI_SUCCESS != PMPI_Type_get_contents_c(type, e.integers, 0, e.counts, 1, number, place, count,
                                                   &made_of)) {
        return false;
    }
    in_order = is_in_order(made_of, depth + 1);
    let_go(made_of);
    return in_order;
}

const void *oc_mpich_row(const void *buffer, int64_t count, MPI_Datatype type)
{
    MPI_Aint lower, extent, true_lower, true_extent;
    size_t size = oc_mpich_type_bytes(type);

    if (MPI_SUCCESS != PMPI_Type_get_extent(type, &lower, &extent)
        || MPI_SUCCESS != PMPI_Type_get_true_extent(type, &true_lower, &true_extent)
        || (size_t) true_extent != size || (count > 1 && extent != true_extent)
        || !is_in_order(type, 0)) {
        return NULL;
    }
    return (const char *) buffer + true_lower;
}

int oc_mpich_pack(const void *from, int64_t count, MPI_Datatype type, void *to, size_t length)
{
    MPI_Count position = 0;

    oc_mpich_count_copied(length);
    return PMPI_Pack_c(from, count, type, to, (MPI_Count) length, &position, MPI_COMM_SELF);
}

int oc_mpich_unpack(const void *from, size_t length, void *to, int64_t count, MPI_Datatype type)
{
    MPI_Count position = 0;

    oc_mpich_count_copied(length);
    return PMPI_Unpack_c(from, (MPI_Count) length, &position, to, count, type, MPI_COMM_SELF);
}

void oc_mpich_layout_free(oc_mpich_layout_t *layout)
{
    oc_layout_free(&layout->blocks);
    free(layout->elements);
    layout->elements = NULL;
    if (MPI_DATATYPE_NULL != layout->type) {
        (void) PMPI_Type_free(&layout->type);
    }
}
