/* SPDX-License-Identifier: BSD-3-Clause */
/* What follows from a survey: sentences about a network, by the worst first. Pure functions. */
#ifndef OC_TOOLS_SURVEY_SURVEY_FINDINGS_H
#define OC_TOOLS_SURVEY_SURVEY_FINDINGS_H

#include "tools/survey/survey_types.h"

#define OC_SURVEY_FINDINGS 32u  /* most that are told */

/* The larger one counts. */
typedef enum {
    OC_SURVEY_REMARK,          /* good to know */
    OC_SURVEY_FLAW,            /* multicast can be used, but this costs something */
    OC_SURVEY_FAULT            /* it cannot be used between all hosts */
} oc_survey_severity_t;

typedef struct {
    oc_survey_severity_t severity;
    const char *kind;          /* a word, for programs: "join", "nothing", "size", … */
    char text[OC_SURVEY_REASON * 2];
} oc_survey_finding_t;

typedef struct {
    oc_survey_finding_t list[OC_SURVEY_FINDINGS];
    uint32_t count;            /* in list */
    uint32_t left_out;         /* that had no room */
    oc_survey_severity_t worst;/* of all; OC_SURVEY_REMARK: nothing is wrong */
} oc_survey_findings_t;

/* What arrives of the datagrams that are sent one by one. */
typedef enum {
    OC_SURVEY_ALL,
    OC_SURVEY_SOME,            /* of those of full size; or small ones are lost */
    OC_SURVEY_SMALL_ONLY,
    OC_SURVEY_NONE
} oc_survey_passage_t;

oc_survey_passage_t oc_survey_passage(const oc_survey_pair_t *pair);

void oc_survey_find(const oc_survey_t *survey, oc_survey_findings_t *findings);

/* "h1, h2, h3 and 5 more": the hosts that are chosen. Returns how many these are. */
uint32_t oc_survey_names(const oc_survey_t *survey, const bool *chosen, char *text, size_t size);

/* Part of what a host has sent in bursts that has not come to another one; 0 if it sent none. */
double oc_survey_burst_loss(const oc_survey_t *survey, uint32_t sender, uint32_t receiver);

/* The middle one of the rates of a pair's bursts, in Mbit/s; 0: there is none. */
double oc_survey_rate(const oc_survey_pair_t *pair);

#endif
