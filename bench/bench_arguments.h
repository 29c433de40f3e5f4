/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the command lines of the programs here have in common. Who is wrong about them is told so,
 * with the program's name, and the program ends.
 */
#ifndef OC_BENCH_ARGUMENTS_H
#define OC_BENCH_ARGUMENTS_H

#include <stddef.h>
#include <stdio.h>

#define OC_BENCH_USAGE 2 /* the exit status for it */

/* "--type xyz: there is no such type" */
void oc_bench_wrong(const char *option, const char *value, const char *why)
    __attribute__((noreturn));

/* Decimal, both ends included. */
size_t oc_bench_number(const char *option, const char *value, size_t least, size_t most);

/* After getopt: nothing is left. */
void oc_bench_no_more(int argc, char **argv);

/* For results; NULL if there is no path. What cannot be written ends the program with 1. */
FILE *oc_bench_create(const char *path);

/* The exit status: whether all is written. */
int oc_bench_close(FILE *file);

#endif
