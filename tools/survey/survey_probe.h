/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The datagrams of a survey: PROBEs as the component sends them, each with a code under a key of
 * the survey, so that nothing else is counted. One thread at a time; does not block, but where it
 * says so.
 */
#ifndef OC_TOOLS_SURVEY_SURVEY_PROBE_H
#define OC_TOOLS_SURVEY_SURVEY_PROBE_H

#include "base/status.h"
#include "multicast/transport/transport.h"
#include "tools/survey/survey_types.h"

typedef struct oc_survey_probes oc_survey_probes_t;

/* The transport outlives it. NULL: no memory, or libcrypto does not work. */
oc_survey_probes_t *oc_survey_probes_new(oc_transport_t *transport, const oc_survey_plan_t *plan);
/* NULL is allowed. */
void oc_survey_probes_free(oc_survey_probes_t *probes);

/* From now on what comes of this step is counted; what has come before is dropped. */
void oc_survey_probes_listen(oc_survey_probes_t *probes, const oc_survey_step_t *step);
/* Takes what has come, until nothing of the step is missing. True if something of it has come. */
bool oc_survey_probes_progress(oc_survey_probes_t *probes);
/* Nothing is missing of what was sent. */
bool oc_survey_probes_are_complete(const oc_survey_probes_t *probes);
oc_survey_counts_t oc_survey_probes_counts(const oc_survey_probes_t *probes);

/*
 * Sends all of a step; blocks for as long as that takes, at most about five seconds. Returns what
 * the network has taken.
 */
oc_survey_counts_t oc_survey_probes_send(oc_survey_probes_t *probes, const oc_survey_step_t *step);

#endif
