/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds the settings in what ompi_info has printed, and says where each value comes from. */
#include "tools/info_values.h"

#include <stdio.h>
#include <string.h>

#include "base/settings.h"
#include "tools/info_tell.h"

#define VALUE_SIZE 1024

/* What Open MPI prints of a setting; texts may be in quotation marks. false: nothing. */
static bool find(const char *output, const char *name, const char *what, char value[VALUE_SIZE])
{
    char key[256];
    const char *at;
    size_t length;

    snprintf(key, sizeof(key), ":param:coll_optcast_%s:%s:", name, what);
    at = strstr(output, key);
    if (NULL == at) {
        return false;
    }
    at += strlen(key);
    length = strcspn(at, "\r\n");
    if (length >= 2 && '"' == at[0] && '"' == at[length - 1]) {
        at++;
        length -= 2;
    }
    snprintf(value, VALUE_SIZE, "%.*s", (int) length, at);
    return true;
}

static void tell_one(const char *output, const oc_setting_t *setting)
{
    char value[VALUE_SIZE], source[VALUE_SIZE], key[128];

    if (!find(output, setting->name, "value", value)
        || !find(output, setting->name, "source", source)) {
        return;
    }
    if (!oc_info_is_parsable()) {
        printf("  coll_optcast_%-21s %-20s %s\n", setting->name,
               '\0' == value[0] ? "(empty)" : value, source);
        return;
    }
    snprintf(key, sizeof(key), "setting:coll_optcast_%s:value", setting->name);
    oc_info_tell("", key, "%s", value);
    snprintf(key, sizeof(key), "setting:coll_optcast_%s:source", setting->name);
    oc_info_tell("", key, "%s", source);
}

void oc_info_values(const char *output)
{
    oc_info_title("Settings of a job that is started here, and where they come from");
    for (unsigned i = 0; i < oc_job_settings_table.count; i++) {
        tell_one(output, &oc_job_settings_table.settings[i]);
    }
}
