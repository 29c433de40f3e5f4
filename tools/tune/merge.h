/* SPDX-License-Identifier: BSD-3-Clause */
/* A rule among those that a file has already: everything else in it stays as it is. No MPI. */
#ifndef OC_TUNE_MERGE_H
#define OC_TUNE_MERGE_H

#include "tools/tune/rule.h"

/*
 * Writes text with the rule before all others, where it decides: without those of the same
 * situation, and the comments that stand directly above them. text of no characters: a new file.
 */
void oc_tune_merge(FILE *out, const char *text, size_t length,
                   const oc_tune_situation_t *situation, const char *rule);

#endif
