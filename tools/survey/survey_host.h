/* SPDX-License-Identifier: BSD-3-Clause */
/* What each host does in a survey, as the coordinator says; its own host does it, too. */
#ifndef OC_TOOLS_SURVEY_SURVEY_HOST_H
#define OC_TOOLS_SURVEY_SURVEY_HOST_H

#include "base/settings.h"
#include "tools/survey/survey_link.h"

/*
 * Says HELLO, waits until end, by oc_clock_ns, for the others to come, and does what it is told
 * until all is over. Of the settings only the interface counts. The link stays the caller's. False,
 * with a sentence in error: it was refused, or the coordinator has gone.
 */
bool oc_survey_host_run(oc_survey_link_t *link, const oc_survey_hello_t *hello,
                        const oc_job_settings_t *settings, uint64_t end, char *error,
                        size_t error_size);

#endif
