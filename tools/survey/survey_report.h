/* SPDX-License-Identifier: BSD-3-Clause */
/* Prints a survey, for people or for programs (tools/info_tell.h). */
#ifndef OC_TOOLS_SURVEY_SURVEY_REPORT_H
#define OC_TOOLS_SURVEY_SURVEY_REPORT_H

#include "tools/survey/survey_findings.h"

void oc_survey_report(const oc_survey_t *survey, const oc_survey_plan_t *plan,
                      const oc_survey_findings_t *findings);

#endif
