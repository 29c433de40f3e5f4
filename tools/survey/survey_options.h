/* SPDX-License-Identifier: BSD-3-Clause */
/* What optcast-info --multicast is told: by its options, and by the environment. */
#ifndef OC_TOOLS_SURVEY_SURVEY_OPTIONS_H
#define OC_TOOLS_SURVEY_SURVEY_OPTIONS_H

#include <stddef.h>
#include <stdint.h>

#include "base/settings.h"
#include "base/status.h"

#define OC_SURVEY_WAIT      60    /* seconds */
#define OC_SURVEY_MOST_WAIT 3600

typedef struct {
    const char *coordinator;   /* HOST[:PORT]; NULL: the launcher knows, or this process is it */
    const char *token;         /* NULL: the launcher has one, or this process makes it */
    uint32_t hosts;            /* 0: as many as the launcher has started */
    unsigned wait;             /* seconds for all to come */
    oc_job_settings_t settings;
} oc_survey_options_t;

/*
 * The defaults, and what the environment has set of a job's settings of multicast. On
 * OC_ERR_INVALID a sentence is in error.
 */
oc_status_t oc_survey_options_init(oc_survey_options_t *options, char *error, size_t error_size);

/* One of these settings, as NAME=VALUE; the text outlives the options. */
oc_status_t oc_survey_options_set(oc_survey_options_t *options, const char *text, char *error,
                                  size_t error_size);

#endif
