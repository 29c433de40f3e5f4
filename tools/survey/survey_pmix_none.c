/* SPDX-License-Identifier: BSD-3-Clause */
/* In place of survey_pmix.c where there is no PMIx to build with. */
#include "tools/survey/survey_pmix.h"

#include <stdio.h>

static bool refuse(char *error, size_t error_size)
{
    snprintf(error, error_size, "this optcast-info was built without PMIx: say --coordinator HOST "
             "and --token WORD");
    return false;
}

bool oc_survey_pmix_enter(oc_survey_place_t *place, char *error, size_t error_size)
{
    (void) place;
    return refuse(error, error_size);
}

bool oc_survey_pmix_share(const oc_survey_place_t *place, char *text, size_t size,
                          unsigned seconds, char *error, size_t error_size)
{
    (void) place;
    (void) text;
    (void) size;
    (void) seconds;
    return refuse(error, error_size);
}

void oc_survey_pmix_leave(void)
{
}
