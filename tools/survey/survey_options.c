/* SPDX-License-Identifier: BSD-3-Clause */
/* Settings of multicast, from the environment and from the command line. */
#include "tools/survey/survey_options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PREFIX    "coll_optcast_"
#define MULTICAST "multicast_"

static bool is_of_multicast(const char *name)
{
    return 0 == strncmp(name, MULTICAST, strlen(MULTICAST));
}

oc_status_t oc_survey_options_init(oc_survey_options_t *options, char *error, size_t error_size)
{
    memset(options, 0, sizeof(*options));
    options->wait = OC_SURVEY_WAIT;
    oc_settings_default(&oc_job_settings_table, &options->settings);
    for (unsigned i = 0; i < oc_job_settings_table.count; i++) {
        const oc_setting_t *setting = &oc_job_settings_table.settings[i];
        char variable[128];
        const char *text;
        oc_status_t status;

        snprintf(variable, sizeof(variable), "OMPI_MCA_" PREFIX "%s", setting->name);
        text = getenv(variable);
        if (NULL == text || !is_of_multicast(setting->name)) {
            continue;
        }
        status = oc_setting_parse(setting, &options->settings, text, error, error_size);
        if (OC_OK != status) {
            return status;
        }
    }
    return OC_OK;
}

oc_status_t oc_survey_options_set(oc_survey_options_t *options, const char *text, char *error,
                                  size_t error_size)
{
    const char *equals = strchr(text, '=');
    size_t skip = 0 == strncmp(text, PREFIX, strlen(PREFIX)) ? strlen(PREFIX) : 0;
    const oc_setting_t *setting;
    char name[64];

    if (NULL == equals) {
        snprintf(error, error_size, "\"%s\" is not NAME=VALUE", text);
        return OC_ERR_INVALID;
    }
    snprintf(name, sizeof(name), "%.*s", (int) (equals - text - (ptrdiff_t) skip), text + skip);
    setting = oc_setting_find(&oc_job_settings_table, name);
    if (NULL == setting || !is_of_multicast(name)) {
        snprintf(error, error_size, "\"%s\" is not one of the settings of multicast, such as "
                 "multicast_interface", name);
        return OC_ERR_INVALID;
    }
    return oc_setting_parse(setting, &options->settings, equals + 1, error, error_size);
}
