/* SPDX-License-Identifier: BSD-3-Clause */
/* Names in capitals, as environment variables are. */
#include "mpich/mpich_settings.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What settings are called in texts for users of Open MPI. */
#define OTHER_PREFIX "coll_optcast_"

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

/* Copies the name of a setting, which ends with the first character that no name has. Returns its length. */
static size_t copy_name(const char *name, char *copy, size_t room)
{
    size_t length = strspn(name, "abcdefghijklmnopqrstuvwxyz_0123456789");

    for (size_t i = 0; i < length && i < room; i++) {
        copy[i] = (char) toupper((unsigned char) name[i]);
    }
    return length;
}

void oc_mpich_settings_rename(const char *text, char *copy, size_t size)
{
    size_t prefix = strlen(OTHER_PREFIX), used = 0;

    while ('\0' != *text && used + 1 < size) {
        bool found = 0 == strncmp(text, OTHER_PREFIX, prefix);
        size_t length = found ? strlen(OC_MPICH_PREFIX) : 1, room = size - 1 - used;

        memcpy(copy + used, found ? OC_MPICH_PREFIX : text, length < room ? length : room);
        used += length < room ? length : room;
        text += found ? prefix : 1;
        if (found) {
            size_t name = copy_name(text, copy + used, size - 1 - used);

            used += name < size - 1 - used ? name : size - 1 - used;
            text += name;
        }
    }
    copy[used] = '\0';
}
