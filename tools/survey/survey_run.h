/* SPDX-License-Identifier: BSD-3-Clause */
/* optcast-info --multicast: what the network between some hosts offers for multicast. */
#ifndef OC_TOOLS_SURVEY_SURVEY_RUN_H
#define OC_TOOLS_SURVEY_SURVEY_RUN_H

#include "tools/survey/survey_options.h"

/* Exit statuses beside 0 and that of a wrong option. */
#define OC_SURVEY_EXIT_FLAWED  1  /* multicast can be used, but there is something to be told */
#define OC_SURVEY_EXIT_USAGE   2
#define OC_SURVEY_EXIT_FAULTY  3  /* it cannot be used between all of the hosts */
#define OC_SURVEY_EXIT_UNKNOWN 4  /* it could not be found out */

/* This process's part in it; a coordinator prints the result. Returns the exit status. */
int oc_survey_run(const oc_survey_options_t *options);

#endif
