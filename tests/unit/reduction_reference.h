/* SPDX-License-Identifier: BSD-3-Clause */
/* Owns what tests compare kernels with: scalar code for one element at a time, and test values. */
#ifndef OPTCAST_TESTS_UNIT_REDUCTION_REFERENCE_H
#define OPTCAST_TESTS_UNIT_REDUCTION_REFERENCE_H

#include <stdbool.h>
#include <stdint.h>

#include "reduction/reduction.h"

/* The largest element, and the largest state of a fold. */
#define MAX_ELEM 16

/* How many special values there are of each type. */
#define NUM_SPECIALS 12

/* The same numbers in every process. */
uint64_t next_random(void);

/* Of the contract, whatever the numbers are. */
bool is_offered(unsigned op, unsigned type);

/* Floats of 16 bits, which are folded as FLOAT. */
bool is_half(unsigned type);

/* A fold of elements, whose state is in MAX_ELEM bytes of the caller. */
void begin_fold(unsigned type, void *state, const void *element);
void fold(unsigned op, unsigned type, void *state, const void *element);
void end_fold(unsigned type, void *element, const void *state);

/* Gives each NaN that was computed the same bits: they are unspecified. Pairs are only taken. */
void unify_nan(unsigned type, void *element);

/* special < 0: a random value; else special value number `special`, from 0. */
void store_value(unsigned type, void *to, int special);

/* Integers of up to 8 bytes in the machine's order, sign- or zero-extended. */
uint64_t load_int(unsigned type, const void *from);
void store_int(unsigned type, void *to, uint64_t value);

/* FLOAT, DOUBLE, FLOAT16 and BFLOAT16; rounded to nearest, ties to even. */
double load_float(unsigned type, const void *from);
void store_float(unsigned type, void *to, double value);

#endif
