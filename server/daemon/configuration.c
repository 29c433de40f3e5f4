/* SPDX-License-Identifier: BSD-3-Clause */
/* Reading of options and of the configuration file (INI without sections). */
#include "server/daemon/configuration.h"

#include <errno.h>
#include <ini.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define NAME_SIZE 64

typedef struct {
    oc_server_settings_t *settings;
    char *error;
    size_t error_size;
    bool failed;             /* the parser goes on after an error; the first one counts */
} file_context_t;

static oc_status_t set(const char *name, const char *value, oc_server_settings_t *settings,
                       char *error, size_t error_size)
{
    const oc_setting_t *setting = oc_setting_find(&oc_server_settings_table, name);

    if (NULL == setting) {
        snprintf(error, error_size, "\"%s\" is not a setting", name);
        return OC_ERR_INVALID;
    }
    return oc_setting_parse(setting, settings, value, error, error_size);
}

static int on_file_value(void *user, const char *section, const char *name, const char *value)
{
    file_context_t *context = user;
    const oc_setting_t *setting = oc_setting_find(&oc_server_settings_table, name);
    bool is_text = NULL != setting && OC_SETTING_TEXT == setting->type;
    const char *kept = is_text ? strdup(value) : value;

    (void) section;
    if (context->failed || NULL == kept) {
        return 0;
    }
    context->failed =
        OC_OK != set(name, kept, context->settings, context->error, context->error_size);
    return !context->failed;
}

/* The number of the first line that is wrong, 0: none is, -1: it cannot be read, with errno. */
static int configuration_parse_file(const char *path, file_context_t *context)
{
    FILE *file = fopen(path, "re");
    int line, failure;

    if (NULL == file) {
        return -1;
    }
    errno = 0;
    line = ini_parse_file(file, on_file_value, context);
    failure = ferror(file) ? errno : 0;
    fclose(file);
    errno = failure;
    return 0 == failure ? line : -1;
}

static oc_status_t read_file(const char *path, oc_server_settings_t *settings, char *error,
                             size_t error_size)
{
    char reason[320] = "not a \"name = value\" line";
    file_context_t context = {settings, reason, sizeof(reason), false};
    int line = configuration_parse_file(path, &context);

    if (line < 0) {
        snprintf(error, error_size, "cannot read the configuration file \"%s\": %s", path,
                 strerror(errno));
    } else if (line > 0) {
        snprintf(error, error_size, "%s, line %d: %s", path, line, reason);
    }
    return 0 == line ? OC_OK : OC_ERR_INVALID;
}

/*
 * Splits argv[*at] (and the word after it) into name and value; false with a sentence in error.
 */
static bool next_option(int argc, char **argv, int *at, char *name, const char **value,
                        char *error, size_t error_size)
{
    const char *word = argv[(*at)++];
    size_t length = strcspn(word, "=");

    if (0 != strncmp(word, "--", 2) || length - 2 >= NAME_SIZE) {
        snprintf(error, error_size, "\"%s\" is not an option", word);
        return false;
    }
    memcpy(name, word + 2, length - 2);
    name[length - 2] = '\0';
    if ('=' == word[length]) {
        *value = word + length + 1;
    } else if (*at < argc) {
        *value = argv[(*at)++];
    } else {
        snprintf(error, error_size, "the option %s needs a value", word);
        return false;
    }
    return true;
}

/* One walk over the command line: with files, only --config counts; without, all else does. */
static oc_status_t walk(int argc, char **argv, bool files, oc_server_settings_t *settings,
                        char *error, size_t error_size)
{
    char name[NAME_SIZE];
    const char *value;
    int at = 1;

    while (at < argc) {
        oc_status_t status = OC_OK;
        bool is_file;

        if (!next_option(argc, argv, &at, name, &value, error, error_size)) {
            return OC_ERR_INVALID;
        }
        is_file = 0 == strcmp(name, "config");
        if (is_file && files) {
            status = read_file(value, settings, error, error_size);
        } else if (!is_file && !files) {
            status = set(name, value, settings, error, error_size);
        }
        if (OC_OK != status) {
            return status;
        }
    }
    return OC_OK;
}

oc_status_t oc_configuration_read(int argc, char **argv, oc_server_settings_t *settings,
                                  char *error, size_t error_size)
{
    oc_status_t status;

    oc_settings_default(&oc_server_settings_table, settings);
    status = walk(argc, argv, true, settings, error, error_size);
    if (OC_OK == status) {
        status = walk(argc, argv, false, settings, error, error_size);
    }
    return status;
}
