/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * settings-pages: keeps documentation in step with the tables of settings. It copies a page from
 * the standard input to the standard output. What stands between a line with "settings-pages: NAME"
 * and one with "settings-pages: end" is replaced by the section of that name, which is generated
 * from the tables. "make settings-pages" does so for all pages in doc/, and a test compares.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/settings.h"
#include "base/settings_text.h"

#define MARK "settings-pages: "

/* As the default, but that pages do not depend on where this build has its configuration files. */
static void show_default(const oc_setting_t *setting, char *text, size_t size)
{
    const char *folder = OPTCAST_SYSCONFDIR;

    oc_setting_default_text(setting, text, size);
    if (OC_SETTING_TEXT == setting->type && 0 == strncmp(setting->text, folder, strlen(folder))) {
        snprintf(text, size, "SYSCONFDIR%s", setting->text + strlen(folder));
    }
}

/* ---- Markdown ---- */

/* Of a choice, what stands before a colon is a value. */
static bool begins_with_choice(const oc_setting_t *setting, const char *text, size_t *length)
{
    *length = strcspn(text, ": ");
    if (OC_SETTING_CHOICE != setting->type || ':' != text[*length]) {
        return false;
    }
    for (unsigned i = 0; NULL != setting->choices[i]; i++) {
        if (strlen(setting->choices[i]) == *length
            && 0 == strncmp(setting->choices[i], text, *length)) {
            return true;
        }
    }
    return false;
}

static void print_help_md(const oc_setting_t *setting)
{
    const char *text = setting->help;
    size_t length;

    while ('\0' != *text) {
        bool choice = begins_with_choice(setting, text, &length);

        length = choice || '\0' == text[length] ? length : length + 1;
        printf(choice ? "`%.*s`" : "%.*s", (int) length, text);
        text += length;
    }
}

static void print_range_md(const oc_setting_t *setting)
{
    char range[OC_SETTING_TEXT_SIZE];

    if (OC_SETTING_CHOICE != setting->type) {
        oc_setting_range_text(setting, range, sizeof(range));
        printf("%s", range);
        return;
    }
    for (unsigned i = 0; NULL != setting->choices[i]; i++) {
        printf("%s`%s`", 0 == i ? "" : ", ", setting->choices[i]);
    }
}

static void print_row_md(const oc_setting_t *setting, const char *prefix, bool of_jobs)
{
    bool plain = OC_SETTING_INT == setting->type || OC_SETTING_SIZE == setting->type;
    char value[OC_SETTING_TEXT_SIZE];
    const char *quote;

    show_default(setting, value, sizeof(value));
    quote = plain || '\0' == value[0] ? "" : "`";
    printf("| `%s%s` | %s%s%s | ", prefix, setting->name, quote, value, quote);
    print_range_md(setting);
    if (of_jobs) {
        printf(" | %u | %s", setting->level, oc_setting_scope_text(setting->scope));
    }
    printf(" | ");
    print_help_md(setting);
    printf(" |\n");
}

static bool has_readers(const oc_settings_table_t *table, oc_setting_readers_t readers)
{
    for (unsigned i = 0; i < table->count; i++) {
        if (readers == table->settings[i].readers) {
            return true;
        }
    }
    return false;
}

static void print_group_md(oc_setting_readers_t readers)
{
    printf("\n### %s\n\n| name | default | range | level | ranks | meaning |\n"
           "|---|---|---|---|---|---|\n", oc_setting_readers_text(readers));
    for (unsigned i = 0; i < oc_job_settings_table.count; i++) {
        if (readers == oc_job_settings_table.settings[i].readers) {
            print_row_md(&oc_job_settings_table.settings[i], "", true);
        }
    }
}

static void print_jobs_md(void)
{
    for (int readers = OC_FOR_USERS; readers < OC_FOR_END; readers++) {
        if (has_readers(&oc_job_settings_table, (oc_setting_readers_t) readers)) {
            print_group_md((oc_setting_readers_t) readers);
        }
    }
    printf("\n");
}

static void print_servers_md(void)
{
    printf("\n| option | default | range | meaning |\n|---|---|---|---|\n");
    for (unsigned i = 0; i < oc_server_settings_table.count; i++) {
        print_row_md(&oc_server_settings_table.settings[i], "--", false);
    }
    printf("\n");
}

/* ---- manual pages ---- */

/* "Ar addr[:port]", "Cm auto | off" */
static void print_argument_man(const oc_setting_t *setting)
{
    char argument[OC_SETTING_TEXT_SIZE];

    if (OC_SETTING_CHOICE == setting->type) {
        printf("Cm %s", setting->choices[0]);
        for (unsigned i = 1; NULL != setting->choices[i]; i++) {
            printf(" | %s", setting->choices[i]);
        }
        return;
    }
    oc_setting_argument_text(setting, argument, sizeof(argument));
    printf("Ar %s", argument);
}

static void print_synopsis(void)
{
    for (unsigned i = 0; i < oc_server_settings_table.count; i++) {
        printf(".Op Fl -%s ", oc_server_settings_table.settings[i].name);
        print_argument_man(&oc_server_settings_table.settings[i]);
        printf("\n");
    }
}

/* Each sentence begins on a line of its own. */
static void print_help_man(const char *text)
{
    for (const char *end = strstr(text, ". "); NULL != end; end = strstr(text, ". ")) {
        printf("%.*s.\n", (int) (end - text), text);
        text = end + strlen(". ");
    }
    printf("%s\n", text);
}

static void print_item_man(const oc_setting_t *setting, const char *macro)
{
    char value[OC_SETTING_TEXT_SIZE], range[OC_SETTING_TEXT_SIZE];
    bool numeric = OC_SETTING_INT == setting->type || OC_SETTING_SIZE == setting->type;

    show_default(setting, value, sizeof(value));
    oc_setting_range_text(setting, range, sizeof(range));
    printf(".It %s%s ", macro, setting->name);
    print_argument_man(setting);
    printf("\n");
    print_help_man(setting->help);
    if (numeric) {
        printf("Range: %s.\n", range);
    }
    if ('\0' != value[0]) {
        printf("The default is\n.%s %s .\n",
               OC_SETTING_CHOICE == setting->type ? "Cm" : "Li", value);
    }
}

static void print_options(void)
{
    for (unsigned i = 0; i < oc_server_settings_table.count; i++) {
        print_item_man(&oc_server_settings_table.settings[i], "Fl -");
    }
}

static void print_parameters(void)
{
    for (unsigned i = 0; i < oc_job_settings_table.count; i++) {
        print_item_man(&oc_job_settings_table.settings[i], "Va coll_optcast_");
    }
}

/* ---- pages ---- */

static const struct {
    const char *name;
    void (*print)(void);
} sections[] = {{"jobs", print_jobs_md}, {"servers", print_servers_md},
                {"synopsis", print_synopsis}, {"options", print_options},
                {"parameters", print_parameters}};

/* The name that a mark has; false: the line has no mark. */
static bool find_mark(const char *line, char name[32])
{
    const char *mark = strstr(line, MARK);

    return NULL != mark && 1 == sscanf(mark + strlen(MARK), "%31[a-z]", name);
}

static bool print_section(const char *name)
{
    for (size_t i = 0; i < sizeof(sections) / sizeof(sections[0]); i++) {
        if (0 == strcmp(name, sections[i].name)) {
            sections[i].print();
            return true;
        }
    }
    fprintf(stderr, "settings-pages: there is no section \"%s\"\n", name);
    return false;
}

int main(void)
{
    char line[4096], name[32];
    bool generated = false;

    while (NULL != fgets(line, sizeof(line), stdin)) {
        bool mark = find_mark(line, name), end = mark && 0 == strcmp(name, "end");

        if (mark && end != generated) {
            fprintf(stderr, "settings-pages: \"%s\" comes too early\n", name);
            return EXIT_FAILURE;
        }
        generated = generated && !end;
        if (!generated) {
            fputs(line, stdout);
        }
        if (mark && !end) {
            generated = true;
            if (!print_section(name)) {
                return EXIT_FAILURE;
            }
        }
    }
    if (generated) {
        fprintf(stderr, "settings-pages: the last section has no end\n");
    }
    return generated ? EXIT_FAILURE : EXIT_SUCCESS;
}
