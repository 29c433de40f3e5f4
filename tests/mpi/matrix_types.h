/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * All predefined operations and datatypes of MPI: which go together, contributions to reduce, and
 * what comes out, in plain C. Knows nothing of the code that is tested.
 */
#ifndef TESTS_MPI_MATRIX_TYPES_H
#define TESTS_MPI_MATRIX_TYPES_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* In one row: arithmetic, order, bits, logic, locations, and those that are not for Allreduce. */
enum {
    SUM, PROD,
    MIN, MAX,
    BAND, BOR, BXOR,
    LAND, LOR, LXOR,
    MINLOC, MAXLOC,
    REPLACE, NO_OP,
    NUM_OPS
};

const char *op_name(int op);
MPI_Op op_handle(int op);
/* false if there is none of that name */
bool op_find(const char *name, int *op);

/* A run of bytes inside an element: all of it, or one of two. What is in no part is padding. */
typedef struct {
    size_t offset, size;
    bool floating;
} part_t;

/* A representation. */
typedef struct {
    size_t size, extent; /* without and with padding */
    unsigned num_parts;
    part_t parts[2];
    /* acc[i] = acc[i] OP next[i]; vectors need no alignment */
    void (*fold)(void *acc, const void *next, size_t count, int op);
} base_t;

/* A name of MPI. */
typedef struct {
    const char *name;
    MPI_Datatype handle;
    const base_t *base; /* NULL: the test knows no representation, nor what comes out */
    unsigned ops;       /* a bit for each that the standard allows */
    bool offered;       /* to be offloaded with all of them */
} type_t;

/* All that this MPI has; *count is how many. */
const type_t *types_all(unsigned *count);
/* NULL if there is none of that name */
const type_t *type_find(const char *name);
bool type_allows(const type_t *type, int op);

/* One element from random bits, all values or (exact) small integers whose results never round. */
void make_element(const type_t *type, int op, uint64_t bits, bool exact, void *element);

/* Whether a result is what it should be: bit by bit, but for which NaN an addition gives. */
bool same_element(const type_t *type, int op, const void *result, const void *expected);

/* Sets or checks the bytes of an element that are padding. */
void fill_padding(const type_t *type, unsigned char pattern, void *element);
bool has_padding(const type_t *type, unsigned char pattern, const void *element);

#endif
