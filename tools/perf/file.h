/* SPDX-License-Identifier: BSD-3-Clause */
/* A file that is there whole or not at all. */
#ifndef OC_PERF_FILE_H
#define OC_PERF_FILE_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

typedef struct {
    FILE *out;                     /* to write to; NULL: there is no file */
    const char *path;
    char temporary[PATH_MAX];      /* beside it, until it is complete; "" for devices and pipes */
} oc_perf_file_t;

/* path NULL: nothing is opened. false: it cannot be written; error says why. path outlives it. */
bool oc_perf_file_open(oc_perf_file_t *file, const char *path, char *error, size_t size);

/* Gives the file its name. false: it is not complete, and removed; error says why. */
bool oc_perf_file_commit(oc_perf_file_t *file, char *error, size_t size);

/* Leaves nothing behind. Does nothing after commit, or if nothing is open. */
void oc_perf_file_discard(oc_perf_file_t *file);

#endif
