/* SPDX-License-Identifier: BSD-3-Clause */
/* The order of a survey: what each host is told, and when. One thread. */
#ifndef OC_TOOLS_SURVEY_SURVEY_CONTROL_H
#define OC_TOOLS_SURVEY_SURVEY_CONTROL_H

#include "base/settings.h"
#include "tools/survey/survey_meeting.h"

/*
 * Fills in a survey of these guests, and blocks for that long. False, with a sentence in error: the
 * settings make no sense, or a host has gone. Either way freed by oc_survey_free.
 */
bool oc_survey_control(oc_survey_guest_t *guests, uint32_t count,
                       const oc_job_settings_t *settings, oc_survey_t *survey,
                       oc_survey_plan_t *plan, char *error, size_t error_size);
void oc_survey_free(oc_survey_t *survey);

#endif
