/* SPDX-License-Identifier: BSD-3-Clause */
/* The file of rules: what is in it already, and writing it whole or not at all. On rank 0 only. */
#ifndef OC_TUNE_RULES_FILE_H
#define OC_TUNE_RULES_FILE_H

#include "tools/tune/rule.h"

typedef struct {
    const char *path;           /* NULL: there is no file */
    bool add;
    char *text;                 /* of the file before, if rules are added to it */
    size_t length;
    oc_rules_t rules;           /* in text */
} oc_tune_output_t;

/*
 * Before anything is measured: false, with a sentence in error, if the file is there and nothing
 * is to be added, if its rules cannot be read, or if it cannot be written. Leaves nothing behind:
 * measuring takes long, and may be interrupted. path outlives it.
 */
bool oc_tune_output_open(oc_tune_output_t *output, const char *path, bool add, char *error,
                         size_t size);

/*
 * Prints the rule, and writes the file, after it has read it once more: somebody may have changed
 * it meanwhile. false: the file is as it was; error says why.
 */
bool oc_tune_output_write(oc_tune_output_t *output, const oc_tune_facts_t *facts,
                          const oc_tune_finding_t *findings, size_t count, char *error,
                          size_t size);

void oc_tune_output_close(oc_tune_output_t *output);

#endif
