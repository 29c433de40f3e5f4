/* SPDX-License-Identifier: BSD-3-Clause */
/* A rule as text: what was measured, in comments, and what follows from it. No MPI. */
#ifndef OC_TUNE_RULE_H
#define OC_TUNE_RULE_H

#include <stdio.h>

#include "base/rules.h"
#include "tools/tune/decision.h"

/* What a rule is for. */
typedef struct {
    unsigned hosts, ranks_per_host, servers; /* as in base/rules.h … */
    oc_ruled_t ruled;
} oc_tune_situation_t;

/* For people. Texts have one line. */
typedef struct {
    oc_tune_situation_t situation;
    const char *version;        /* of optcast-tune */
    const char *mpi;            /* library and version */
    const char *servers;        /* coll_optcast_servers */
    const char *type;           /* NULL: there are no elements */
    const char *date;
    int rounds;
} oc_tune_facts_t;

/* Whether the rule is for this situation and no other. */
bool oc_tune_is_for(const oc_rule_t *rule, const oc_tune_situation_t *situation);

/* Hosts, ranks and servers, such as 4x1+2; another one if rules have that for another situation. */
void oc_tune_rule_name(const oc_tune_situation_t *situation, const oc_rules_t *rules,
                       char name[OC_RULE_NAME_SIZE]);

/* Ends with the line of offload. Errors are in ferror(out). */
void oc_tune_write_rule(FILE *out, const oc_tune_facts_t *facts, const char *name,
                        const oc_tune_finding_t *findings, size_t count);

#endif
