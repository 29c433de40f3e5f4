/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How settings are shown to people, in help texts and in the documentation. Any thread may call
 * these functions; all but oc_settings_print do no I/O.
 */
#ifndef OC_BASE_SETTINGS_TEXT_H
#define OC_BASE_SETTINGS_TEXT_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/settings.h"

/* Room for any of the texts below but the default of a text. */
#define OC_SETTING_TEXT_SIZE 96

/* "info", "5", "64 KiB", the text of a text; "" if that is empty. */
void oc_setting_default_text(const oc_setting_t *setting, char *text, size_t size);

/* "1 to 64 chunks", "at least 1 MiB", "auto, off"; "" for a text. */
void oc_setting_range_text(const oc_setting_t *setting, char *text, size_t size);

/* What stands for the value: "SECONDS", "SIZE", "auto|off", "HOST[:PORT]". */
void oc_setting_argument_text(const oc_setting_t *setting, char *text, size_t size);

/* The heading of the settings for these readers: "For users". */
const char *oc_setting_readers_text(oc_setting_readers_t readers);

/* What a column for the scope says: "rank 0", "own". */
const char *oc_setting_scope_text(oc_setting_scope_t scope);

/* A paragraph for each setting: its name behind prefix, argument, help, default and range. */
void oc_settings_print(const oc_settings_table_t *table, const char *prefix, FILE *out);

#endif
