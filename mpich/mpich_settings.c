/* SPDX-License-Identifier: BSD-3-Clause */
/* Names in capitals, as environment variables are. */
#include "mpich/mpich_settings.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *environment_value(const oc_setting_t *setting, char *name, size_t name_size)
{
    size_t at = strlen(OC_MPICH_PREFIX);

    snprintf(name, name_size, OC_MPICH_PREFIX "%s", setting->name);
    for (; '\0' != name[at]; at++) {
        name[at] = (char) toupper((unsigned char) name[at]);
    }
    return getenv(name);
}

bool oc_mpich_settings_read(oc_job_settings_t *settings, char *error, size_t error_size)
{
    const oc_settings_table_t *table = &oc_job_settings_table;
    char name[64], why[512];

    oc_settings_default(table, settings);
    for (unsigned i = 0; i < table->count; i++) {
        const oc_setting_t *setting = &table->settings[i];
        const char *value = environment_value(setting, name, sizeof(name));

        if (NULL != value
            && OC_OK != oc_setting_parse(setting, settings, value, why, sizeof(why))) {
            snprintf(error, error_size, "%s: %s", name, why);
            return false;
        }
    }
    return OC_OK == oc_settings_check(table, settings, error, error_size);
}
