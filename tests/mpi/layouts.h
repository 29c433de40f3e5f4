/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Datatypes that describe the same elements in different ways, and where each puts them: a reference
 * that does not ask MPI.
 *
 * A family is a sequence of primitives, repeated; each of its kinds describes that in another way.
 */
#ifndef TESTS_MPI_LAYOUTS_H
#define TESTS_MPI_LAYOUTS_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum { FAMILY_BYTES, FAMILY_INTS, FAMILY_MIXED, NUM_FAMILIES } family_t;

typedef struct {
    family_t family;
    MPI_Datatype type;
    bool own;           /* to be freed */
    int parts;          /* primitives of an element */
    MPI_Aint *offsets;  /* bytes from the element's address to each */
    MPI_Aint extent;    /* bytes from one element to the next */
} layout_t;

unsigned layout_kinds(family_t family);

/* Numbers of primitives have to be multiples of this. */
int layout_unit(family_t family);

/* Kinds of which an element is a whole block, whatever its length. */
bool layout_is_whole(family_t family, unsigned kind);

/* length: primitives of a block; only counts for kinds that are a whole. */
layout_t layout_make(family_t family, unsigned kind, int length);
void layout_free(layout_t *layout);

/* Bytes of the primitive number index of a block. */
size_t layout_size(family_t family, int index);

/* Where that is, in bytes from the block's address. */
MPI_Aint layout_at(const layout_t *layout, int index);

/* Bytes from the block's address to its first byte, and behind its last; length > 0. */
void layout_bounds(const layout_t *layout, int length, MPI_Aint *first, MPI_Aint *end);

/* Writes a block whose contents follow from seed. */
void layout_write(const layout_t *layout, int length, uint64_t seed, char *block);

#endif
