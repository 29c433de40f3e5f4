/* SPDX-License-Identifier: BSD-3-Clause */
/* Environment variables of launchers. */
#include "tools/survey/survey_launcher.h"

#include <stdlib.h>

#include "base/text.h"

uint32_t oc_survey_launched(void)
{
    /* of mpirun, srun (not of the script of a batch job), and launchers with PMI */
    static const char *const names[] = {"OMPI_COMM_WORLD_SIZE", "SLURM_STEP_NUM_TASKS",
                                        "PMI_SIZE"};
    uint64_t count;

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        const char *text = getenv(names[i]);

        if (NULL != text && 0 == oc_parse_size(text, &count) && count > 0 && count < UINT32_MAX) {
            return (uint32_t) count;
        }
    }
    return 0;
}

bool oc_survey_has_pmix(void)
{
    return NULL != getenv("PMIX_RANK") && NULL != getenv("PMIX_NAMESPACE");
}
