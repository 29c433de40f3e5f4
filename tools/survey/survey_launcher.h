/* SPDX-License-Identifier: BSD-3-Clause */
/* What the environment says of the launcher of a survey's processes. */
#ifndef OC_TOOLS_SURVEY_SURVEY_LAUNCHER_H
#define OC_TOOLS_SURVEY_SURVEY_LAUNCHER_H

#include <stdbool.h>
#include <stdint.h>

/* Processes that were started together, as the environment says; 0: it does not say. */
uint32_t oc_survey_launched(void);

/* Whether a launcher with PMIx has started this process, as mpirun of Open MPI. */
bool oc_survey_has_pmix(void);

#endif
