/* SPDX-License-Identifier: BSD-3-Clause */
/* All sizes in rounds, with and without coll/optcast in turns; then sizes in between. */
#ifndef OC_TUNE_SURVEY_H
#define OC_TUNE_SURVEY_H

#include "tools/perf/measure.h"
#include "tools/tune/decision.h"
#include "tools/tune/tune_options.h"

typedef struct {
    oc_tune_finding_t findings[OC_TUNE_MAX_POINTS]; /* by size; on rank 0 */
    size_t count;
    uint64_t wrong;             /* elements; the same on all ranks, as is what follows */
    bool offloaded;             /* something was */
    bool previous_offloaded;    /* also where nothing should have been */
} oc_tune_survey_t;

/* All ranks together. false: memory ran out, on all ranks and after a message. */
bool oc_tune_survey(const oc_tune_options_t *options, const oc_perf_job_t *job,
                    const oc_perf_component_t *component, oc_tune_survey_t *survey);

#endif
