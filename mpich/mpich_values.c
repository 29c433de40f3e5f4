/* SPDX-License-Identifier: BSD-3-Clause */
/* Settings as texts, and the mode of communicators to come. */
#include "mpich/mpich_values.h"

#include <stdio.h>
#include <string.h>

#include "mpich/life.h"
#include "mpich/state.h"

static void write_value(const oc_setting_t *s, const void *value, optcast_mpi_setting_t *setting)
{
    switch (s->type) {
    case OC_SETTING_INT:
        setting->is_number = 1;
        snprintf(setting->value, sizeof(setting->value), "%d", *(const int *) value);
        break;
    case OC_SETTING_SIZE:
        setting->is_number = 1;
        snprintf(setting->value, sizeof(setting->value), "%zu", *(const size_t *) value);
        break;
    case OC_SETTING_CHOICE:
        snprintf(setting->value, sizeof(setting->value), "%s", s->choices[*(const int *) value]);
        break;
    default:
        snprintf(setting->value, sizeof(setting->value), "%s",
                 NULL == *(const char *const *) value ? "" : *(const char *const *) value);
    }
}

unsigned optcast_mpi_setting(unsigned index, optcast_mpi_setting_t *setting)
{
    const oc_settings_table_t *table = &oc_job_settings_table;

    if (index < table->count) {
        const oc_setting_t *s = &table->settings[index];

        *setting = (optcast_mpi_setting_t) {.is_number = 0};
        snprintf(setting->name, sizeof(setting->name), "%s", s->name);
        if (oc_mpich_life_is_on()) {
            pthread_mutex_lock(&oc_mpich_state.lock);
            write_value(s, (const char *) &oc_mpich_state.settings + s->offset, setting);
            pthread_mutex_unlock(&oc_mpich_state.lock);
        }
    }
    return table->count;
}

static const oc_setting_t *find_setting(const char *name)
{
    const oc_settings_table_t *table = &oc_job_settings_table;

    for (unsigned i = 0; i < table->count; i++) {
        if (0 == strcmp(name, table->settings[i].name)) {
            return &table->settings[i];
        }
    }
    return NULL;
}

int optcast_mpi_mode(const char *mode)
{
    const oc_setting_t *s = find_setting("mode");

    if (NULL == mode) {
        atomic_store(&oc_mpich_state.mode, OC_MPICH_MODE_OF_JOB);
        return 0;
    }
    for (int i = 0; NULL != s && NULL != s->choices[i]; i++) {
        if (0 == strcmp(mode, s->choices[i])) {
            atomic_store(&oc_mpich_state.mode, i);
            return 0;
        }
    }
    return -1;
}
