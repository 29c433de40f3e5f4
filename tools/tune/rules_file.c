/* SPDX-License-Identifier: BSD-3-Clause */
/* Reading, merging, checking what came out, and renaming. */
#include "tools/tune/rules_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "tools/perf/file.h"
#include "tools/tune/merge.h"

/* false with errno. One byte more than rules may have is enough to see that it is too long. */
static bool read_text(oc_tune_output_t *output)
{
    FILE *file = fopen(output->path, "re");
    bool good;

    if (NULL == file) {
        return false;
    }
    output->length = fread(output->text, 1, OC_MAX_RULES_FILE + 1, file);
    good = !ferror(file);
    fclose(file);
    return good;
}

/* What others have written so far; a file that is not there has nothing. */
static bool read_rules(oc_tune_output_t *output, char *error, size_t size)
{
    output->length = 0;
    oc_rules_default(&output->rules);
    if (!output->add) {
        return true;
    }
    if (!read_text(output)) {
        if (ENOENT == errno) {
            return true;
        }
        snprintf(error, size, "the rules in \"%s\" cannot be read: %s", output->path,
                 strerror(errno));
        return false;
    }
    if (output->length > OC_MAX_RULES_FILE) {
        snprintf(error, size, "the rules in \"%s\" are longer than %u bytes: remove some, or name "
                 "another file", output->path, OC_MAX_RULES_FILE);
        return false;
    }
    return OC_OK == oc_rules_parse(output->path, output->text, output->length, &output->rules,
                                   error, size);
}

static bool is_file(const char *path)
{
    struct stat info;

    return 0 == stat(path, &info) && S_ISREG(info.st_mode);
}

/* Which would see that it is opened and closed. */
static bool is_device(const char *path)
{
    struct stat info;

    return 0 == stat(path, &info) && !S_ISREG(info.st_mode) && !S_ISDIR(info.st_mode);
}

static bool can_write(const char *path, char *error, size_t size)
{
    oc_perf_file_t file;

    if (NULL == path || is_device(path)) {
        return true;
    }
    if (!oc_perf_file_open(&file, path, error, size)) {
        return false;
    }
    oc_perf_file_discard(&file);
    return true;
}

bool oc_tune_output_open(oc_tune_output_t *output, const char *path, bool add, char *error,
                         size_t size)
{
    *output = (oc_tune_output_t) {.path = path, .add = add};
    output->text = malloc(OC_MAX_RULES_FILE + 1);
    if (NULL == output->text) {
        snprintf(error, size, "no memory");
        return false;
    }
    if (!add && NULL != path && is_file(path)) {
        snprintf(error, size, "\"%s\" exists: give --add to keep what is in it, or remove it",
                 path);
        return false;
    }
    return read_rules(output, error, size) && can_write(path, error, size);
}

/* The whole file, with the rule in it. NULL: no memory. */
static char *merge(const oc_tune_output_t *output, const oc_tune_facts_t *facts, const char *rule,
                   size_t *length)
{
    char *text = NULL;
    FILE *out = open_memstream(&text, length);

    if (NULL != out) {
        oc_tune_merge(out, output->text, output->length, &facts->situation, rule);
        fclose(out);
    }
    return text;
}

/* What is written has to be read by others. */
static bool check(const oc_tune_output_t *output, const char *text, size_t length, char *error,
                  size_t size)
{
    char reason[256] = "it is too long";
    oc_rules_t rules;

    if (length <= OC_MAX_RULES_FILE
        && OC_OK == oc_rules_parse("it", text, length, &rules, reason, sizeof(reason))) {
        return true;
    }
    snprintf(error, size, "\"%s\" is not changed, because there would be a mistake in it (%s): "
             "remove rules, or name another file", output->path, reason);
    return false;
}

static bool write_file(oc_tune_output_t *output, const oc_tune_facts_t *facts, const char *rule,
                       char *error, size_t size)
{
    size_t length = 0;
    char *text = merge(output, facts, rule, &length);
    oc_perf_file_t file;
    bool good = false;

    if (NULL == text) {
        snprintf(error, size, "no memory");
    } else if (check(output, text, length, error, size)
               && oc_perf_file_open(&file, output->path, error, size)) {
        fwrite(text, 1, length, file.out);
        good = oc_perf_file_commit(&file, error, size);
    }
    free(text);
    return good;
}

bool oc_tune_output_write(oc_tune_output_t *output, const oc_tune_facts_t *facts,
                          const oc_tune_finding_t *findings, size_t count, char *error, size_t size)
{
    char name[OC_RULE_NAME_SIZE], *rule = NULL;
    bool read = read_rules(output, error, size), good = false;
    size_t length = 0;
    FILE *out = open_memstream(&rule, &length);

    if (NULL == out) {
        snprintf(error, size, "no memory");
        return false;
    }
    oc_tune_rule_name(&facts->situation, &output->rules, name);
    oc_tune_write_rule(out, facts, name, findings, count);
    fclose(out);
    if (NULL == output->path) {
        oc_tune_merge(stdout, "", 0, &facts->situation, rule);
        good = true;
    } else {
        fputs(rule, stdout);
        good = read && write_file(output, facts, rule, error, size);
    }
    free(rule);
    return good;
}

void oc_tune_output_close(oc_tune_output_t *output)
{
    free(output->text);
    output->text = NULL;
}
