/* SPDX-License-Identifier: BSD-3-Clause */
/* Owns the datatypes of the tests of Allgather and Bcast. */
#include "layouts.h"

#include <string.h>

#include "check.h"

#define MAX_PARTS 6

/* How a kind is made; MPI has several ways to come to the same. */
typedef enum {
    PREDEFINED,
    DUPLICATE,
    CONTIGUOUS,
    VECTOR,      /* of one primitive each, offsets are equally far apart */
    STRUCT,
    ROWS,        /* a vector of a type with a gap at its end, of three primitives each */
    WHOLE_ROW,   /* one block side by side, and a gap */
    WHOLE_COMB,  /* one block with a gap after each primitive */
} making_t;

typedef struct {
    making_t making;
    int parts;
    int offsets[MAX_PARTS];
    int lower, extent;
} kind_t;

static const kind_t bytes_kinds[] = {
    {PREDEFINED, 1, {0}, 0, 1},
    {STRUCT, 1, {0}, 0, 3},
    {DUPLICATE, 1, {0}, 0, 1},
    {CONTIGUOUS, 1, {0}, 0, 1},
    {STRUCT, 1, {5}, 0, 1},
    {WHOLE_ROW, 0, {0}, 0, 0},
    {WHOLE_COMB, 0, {0}, 0, 0},
};

static const kind_t ints_kinds[] = {
    {PREDEFINED, 1, {0}, 0, 4},
    {CONTIGUOUS, 2, {0, 4}, 0, 8},
    {VECTOR, 3, {0, 8, 16}, 0, 20},
    {STRUCT, 2, {0, 4}, -4, 16},
    {STRUCT, 4, {12, 8, 4, 0}, 0, 16},
    {STRUCT, 2, {8, 20}, 8, 16},
    {VECTOR, 3, {0, -8, -16}, -16, 20},
    {ROWS, 6, {0, 4, 8, 40, 44, 48}, 0, 60},
    {STRUCT, 4, {0, 4, 8, 12}, 0, 20},
    {STRUCT, 1, {4}, 0, 4},
    {WHOLE_ROW, 0, {0}, 0, 0},
    {WHOLE_COMB, 0, {0}, 0, 0},
};

/* An int, a char and a double. */
static const kind_t mixed_kinds[] = {
    {STRUCT, 3, {0, 4, 8}, 0, 16},
    {STRUCT, 3, {0, 4, 5}, 0, 13},
    {STRUCT, 3, {16, 8, 0}, 0, 24},
    {STRUCT, 3, {-8, -4, 8}, -8, 32},
    {STRUCT, 6, {0, 4, 8, 16, 20, 24}, 0, 32},
};

#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))

static const struct {
    const kind_t *kinds;
    unsigned num_kinds;
    int unit, num_sizes;
    size_t sizes[3];
} families[NUM_FAMILIES] = {
    [FAMILY_BYTES] = {bytes_kinds, LENGTH(bytes_kinds), 1, 1, {1}},
    [FAMILY_INTS] = {ints_kinds, LENGTH(ints_kinds), 12, 1, {4}},
    [FAMILY_MIXED] = {mixed_kinds, LENGTH(mixed_kinds), 6, 3, {4, 1, 8}},
};

unsigned layout_kinds(family_t family)
{
    return families[family].num_kinds;
}

int layout_unit(family_t family)
{
    return families[family].unit;
}

bool layout_is_whole(family_t family, unsigned kind)
{
    return families[family].kinds[kind].making >= WHOLE_ROW;
}

size_t layout_size(family_t family, int index)
{
    return families[family].sizes[index % families[family].num_sizes];
}

static MPI_Datatype primitive(family_t family, int index)
{
    const MPI_Datatype mixed[] = {MPI_INT, MPI_CHAR, MPI_DOUBLE};

    return FAMILY_BYTES == family ? MPI_BYTE : FAMILY_INTS == family ? MPI_INT : mixed[index % 3];
}

/* The kinds whose element is a whole block. */
static MPI_Datatype make_whole(layout_t *layout, making_t making, int length)
{
    MPI_Aint size = (MPI_Aint) layout_size(layout->family, 0);
    MPI_Aint step = WHOLE_COMB == making ? 2 * size : size;
    MPI_Datatype type;

    layout->parts = length;
    layout->offsets = must(malloc((size_t) length * sizeof(*layout->offsets)));
    for (int i = 0; i < length; i++) {
        layout->offsets[i] = i * step;
    }
    layout->extent = length * step + 8;
    MPI_Type_create_hvector(length, 1, step, primitive(layout->family, 0), &type);
    return type;
}

static MPI_Datatype make_struct(const layout_t *layout)
{
    MPI_Datatype types[MAX_PARTS], type;
    int ones[MAX_PARTS];

    for (int i = 0; i < layout->parts; i++) {
        types[i] = primitive(layout->family, i);
        ones[i] = 1;
    }
    MPI_Type_create_struct(layout->parts, ones, layout->offsets, types, &type);
    return type;
}

static MPI_Datatype make_rows(const layout_t *layout)
{
    MPI_Datatype three, row, rows;

    MPI_Type_contiguous(3, primitive(layout->family, 0), &three);
    MPI_Type_create_resized(three, 0, layout->offsets[3] / 2, &row);
    MPI_Type_vector(2, 1, 2, row, &rows);
    MPI_Type_free(&three);
    MPI_Type_free(&row);
    return rows;
}

static MPI_Datatype make_parts(layout_t *layout, const kind_t *kind)
{
    MPI_Datatype first = primitive(layout->family, 0), type;

    layout->parts = kind->parts;
    layout->extent = kind->extent;
    layout->offsets = must(malloc((size_t) kind->parts * sizeof(*layout->offsets)));
    for (int i = 0; i < kind->parts; i++) {
        layout->offsets[i] = kind->offsets[i];
    }
    switch (kind->making) {
    case DUPLICATE:
        MPI_Type_dup(first, &type);
        return type;
    case CONTIGUOUS:
        MPI_Type_contiguous(kind->parts, first, &type);
        return type;
    case VECTOR:
        MPI_Type_create_hvector(kind->parts, 1, kind->offsets[1], first, &type);
        return type;
    case ROWS:
        return make_rows(layout);
    default:
        return make_struct(layout);
    }
}

layout_t layout_make(family_t family, unsigned number, int length)
{
    const kind_t *kind = &families[family].kinds[number];
    bool whole = layout_is_whole(family, number);
    layout_t layout = {.family = family};
    MPI_Datatype plain;

    if (PREDEFINED == kind->making) {
        layout.offsets = must(calloc(1, sizeof(*layout.offsets)));
        layout.parts = 1;
        layout.extent = kind->extent;
        layout.type = primitive(family, 0);
        return layout;
    }
    plain = whole ? make_whole(&layout, kind->making, length) : make_parts(&layout, kind);
    MPI_Type_create_resized(plain, kind->lower, layout.extent, &layout.type);
    MPI_Type_commit(&layout.type);
    MPI_Type_free(&plain);
    layout.own = true;
    return layout;
}

void layout_free(layout_t *layout)
{
    if (layout->own) {
        MPI_Type_free(&layout->type);
    }
    free(layout->offsets);
}

MPI_Aint layout_at(const layout_t *layout, int index)
{
    return index / layout->parts * layout->extent + layout->offsets[index % layout->parts];
}

void layout_bounds(const layout_t *layout, int length, MPI_Aint *first, MPI_Aint *end)
{
    *first = PTRDIFF_MAX;
    *end = PTRDIFF_MIN;
    for (int i = 0; i < length; i++) {
        MPI_Aint at = layout_at(layout, i), behind = at + (MPI_Aint) layout_size(layout->family, i);

        *first = at < *first ? at : *first;
        *end = behind > *end ? behind : *end;
    }
}

void layout_write(const layout_t *layout, int length, uint64_t seed, char *block)
{
    for (int i = 0; i < length; i++) {
        uint64_t value = mix64(seed + (uint64_t) i);

        memcpy(block + layout_at(layout, i), &value, layout_size(layout->family, i));
    }
}
