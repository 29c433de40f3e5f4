/* SPDX-License-Identifier: BSD-3-Clause */
/* What the table of settings says, as text: pages of the documentation, --help and man pages. */
#include "base/settings_text.h"

#include <stdbool.h>
#include <string.h>

/* "64 KiB", "65535 bytes", "0" */
static void size_text(uint64_t bytes, char *text, size_t size)
{
    static const char *const units[] = {"bytes", "KiB", "MiB", "GiB", "TiB"};
    unsigned unit = 0;

    while (unit < 4 && 0 != bytes && 0 == bytes % 1024) {
        bytes /= 1024;
        unit++;
    }
    snprintf(text, size, "%llu%s%s", (unsigned long long) bytes, 0 == bytes ? "" : " ",
             0 == bytes ? "" : units[unit]);
}

void oc_setting_default_text(const oc_setting_t *setting, char *text, size_t size)
{
    switch (setting->type) {
    case OC_SETTING_TEXT:
        snprintf(text, size, "%s", setting->text);
        break;
    case OC_SETTING_CHOICE:
        snprintf(text, size, "%s", setting->choices[setting->number]);
        break;
    case OC_SETTING_SIZE:
        size_text(setting->number, text, size);
        break;
    default:
        snprintf(text, size, "%lld", (long long) setting->number);
    }
}

static void choices_text(const oc_setting_t *setting, const char *between, char *text, size_t size)
{
    text[0] = '\0';
    for (unsigned i = 0; NULL != setting->choices[i]; i++) {
        size_t used = strlen(text);

        snprintf(text + used, size - used, "%s%s", 0 == i ? "" : between, setting->choices[i]);
    }
}

static void bound_text(const oc_setting_t *setting, int64_t bound, char *text, size_t size)
{
    if (OC_SETTING_SIZE == setting->type) {
        size_text((uint64_t) bound, text, size);
    } else {
        snprintf(text, size, "%lld", (long long) bound);
    }
}

void oc_setting_range_text(const oc_setting_t *setting, char *text, size_t size)
{
    char least[32], most[32];

    if (OC_SETTING_TEXT == setting->type) {
        text[0] = '\0';
        return;
    }
    if (OC_SETTING_CHOICE == setting->type) {
        choices_text(setting, ", ", text, size);
        return;
    }
    bound_text(setting, setting->min, least, sizeof(least));
    bound_text(setting, setting->max, most, sizeof(most));
    if (INT64_MAX == setting->max) {
        snprintf(text, size, "at least %s", least);
    } else {
        /* sizes have units of their own */
        snprintf(text, size, "%s%s to %s%s%s", setting->automatic ? "0, or " : "", least, most,
                 OC_SETTING_SIZE == setting->type || '\0' == setting->unit[0] ? "" : " ",
                 OC_SETTING_SIZE == setting->type ? "" : setting->unit);
    }
}

void oc_setting_argument_text(const oc_setting_t *setting, char *text, size_t size)
{
    switch (setting->type) {
    case OC_SETTING_TEXT:
        snprintf(text, size, "%s", setting->argument);
        break;
    case OC_SETTING_CHOICE:
        choices_text(setting, "|", text, size);
        break;
    case OC_SETTING_SIZE:
        snprintf(text, size, "SIZE");
        break;
    default:
        snprintf(text, size, "%s", 0 == strcmp(setting->unit, "seconds") ? "SECONDS" : "NUMBER");
    }
}

const char *oc_setting_readers_text(oc_setting_readers_t readers)
{
    static const char *const texts[OC_FOR_END] = {
        [OC_FOR_USERS] = "For users",
        [OC_FOR_ADMINISTRATORS] = "For administrators",
        [OC_FOR_EXPERTS] = "For experts",
    };

    return texts[readers];
}

const char *oc_setting_scope_text(oc_setting_scope_t scope)
{
    static const char *const texts[OC_SCOPE_END] = {
        [OC_SCOPE_LOCAL] = "own",
        [OC_SCOPE_FIRST] = "rank 0",
        [OC_SCOPE_MEANING] = "equal in meaning",
        [OC_SCOPE_SERVERS] = "equal for reductions",
        [OC_SCOPE_MULTICAST] = "equal for multicast",
    };

    return texts[scope];
}

static void print_one(const oc_setting_t *setting, const char *prefix, FILE *out)
{
    char range[OC_SETTING_TEXT_SIZE], argument[OC_SETTING_TEXT_SIZE], value[1024];
    bool numeric = OC_SETTING_INT == setting->type || OC_SETTING_SIZE == setting->type;

    oc_setting_argument_text(setting, argument, sizeof(argument));
    oc_setting_range_text(setting, range, sizeof(range));
    oc_setting_default_text(setting, value, sizeof(value));
    fprintf(out, "  %s%s %s\n      %s", prefix, setting->name, argument, setting->help);
    if ('\0' != value[0]) {
        fprintf(out, " (default %s%s%s)", value, numeric ? "; " : "", numeric ? range : "");
    }
    fprintf(out, "\n");
}

void oc_settings_print(const oc_settings_table_t *table, const char *prefix, FILE *out)
{
    for (unsigned i = 0; i < table->count; i++) {
        print_one(&table->settings[i], prefix, out);
    }
}
