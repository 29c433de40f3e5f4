/* SPDX-License-Identifier: BSD-3-Clause */
/* How processes that were started by a launcher with PMIx find each other. One thread. */
#ifndef OC_TOOLS_SURVEY_SURVEY_PMIX_H
#define OC_TOOLS_SURVEY_SURVEY_PMIX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct {
    uint32_t rank, processes;
} oc_survey_place_t;

/*
 * Asks PMIx which process this is. False, with a sentence in error: it cannot be reached, or this
 * build has none. Whoever has got in leaves by oc_survey_pmix_leave.
 */
bool oc_survey_pmix_enter(oc_survey_place_t *place, char *error, size_t error_size);

/*
 * Gives the text of rank 0 to all others; size: of all texts, with the final zero. Waits for all
 * processes, seconds at most.
 */
bool oc_survey_pmix_share(const oc_survey_place_t *place, char *text, size_t size,
                          unsigned seconds, char *error, size_t error_size);

void oc_survey_pmix_leave(void);

#endif
