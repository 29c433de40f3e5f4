/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fuzz target: any text as a setting of the environment, as a command line, and as the configuration file
 * of a server. What is taken is in its range, and what is not is answered by a sentence.
 */
/* Test: default 5; all 60 */
#include <arpa/inet.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/limits.h"
#include "base/text.h"
#include "multicast/transport/cast_address.h"
#include "net/devices.h"
#include "server/daemon/configuration.h"
#include "tests/fuzz/input.h"

#define MOST_WORDS 16
#define MOST_KEPT  4096

/* Texts from a file are kept for ever: here, until it has been read. */
static void *kept[MOST_KEPT];
static unsigned num_kept;
static bool keeping;

char *__real_strdup(const char *text);
char *__wrap_strdup(const char *text);

char *__wrap_strdup(const char *text)
{
    char *copy = num_kept < MOST_KEPT ? __real_strdup(text) : NULL;

    if (keeping && NULL != copy) {
        kept[num_kept++] = copy;
    }
    return copy;
}

static void read_all(int argc, char **argv)
{
    oc_server_settings_t settings;
    char error[400] = "", again[400];

    keeping = true;
    if (OC_OK == oc_configuration_read(argc, argv, &settings, error, sizeof(error))) {
        check(OC_OK == oc_settings_check(&oc_server_settings_table, &settings, again,
                                         sizeof(again)));
    } else {
        check('\0' != error[0]);
    }
    keeping = false;
    while (num_kept > 0) {
        free(kept[--num_kept]);
    }
}

static void as_file(const uint8_t *data, size_t size)
{
    char path[32], program[] = "server", option[] = "--config";
    char *argv[] = {program, option, path, NULL};
    static int fd = -1;

    if (fd < 0) {
        fd = memfd_create("configuration", MFD_CLOEXEC);
    }
    check(fd >= 0 && 0 == ftruncate(fd, 0) && (ssize_t) size == pwrite(fd, data, size, 0));
    snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    read_all(3, argv);
}

/* A word each line; other files are left alone. */
static void as_words(char *text)
{
    char program[] = "server", *argv[MOST_WORDS + 2] = {program}, *word;
    int argc = 1;

    while (argc <= MOST_WORDS && NULL != (word = strsep(&text, "\n"))) {
        if (0 == strncmp(word, "--config", 8)) {
            return;
        }
        argv[argc++] = word;
    }
    read_all(argc, argv);
}

static void as_value(const oc_settings_table_t *table, const char *text)
{
    union {
        oc_job_settings_t job;
        oc_server_settings_t server;
    } values;
    char error[400];

    oc_settings_default(table, &values);
    for (unsigned i = 0; i < table->count; i++) {
        const oc_setting_t *setting = &table->settings[i];

        error[0] = '\0';
        if (OC_OK != oc_setting_parse(setting, &values, text, error, sizeof(error))) {
            check('\0' != error[0] && OC_SETTING_TEXT != setting->type);
        }
    }
    check(OC_OK == oc_settings_check(table, &values, error, sizeof(error)));
}

static void as_size(const char *text)
{
    uint64_t value = 4711, again;
    char printed[24];

    if (OC_OK != oc_parse_size(text, &value)) {
        check(4711 == value);
        return;
    }
    snprintf(printed, sizeof(printed), "%llu", (unsigned long long) value);
    check(OC_OK == oc_parse_size(printed, &again) && again == value);
}

static void check_address(const oc_multicast_range_t *range, struct in_addr address)
{
    check(IN_MULTICAST(ntohl(address.s_addr)) && ntohl(address.s_addr) >= range->block
          && ntohl(address.s_addr) - range->block < range->size);
}

/* So many addresses, at least one. */
static void as_range(const char *text, unsigned count)
{
    static const uint8_t job_id[OC_JOB_ID_SIZE] = "the job it is of";
    oc_multicast_range_t range;
    char error[200] = "";

    if (OC_OK != oc_multicast_range(text, job_id, count, &range, error, sizeof(error))) {
        check('\0' != error[0]);
        return;
    }
    check_address(&range, oc_multicast_common(&range));
    for (uint64_t hash = 0; hash < 100; hash++) {
        check_address(&range, oc_multicast_of_set(&range, hash, false));
        check_address(&range, oc_multicast_of_set(&range, hash, true));
    }
    check(IN_MULTICAST(ntohl(oc_multicast_spare(&range, 0).s_addr))
          && IN_MULTICAST(ntohl(oc_multicast_spare(&range, 1).s_addr)));
}

static void as_list(const char *text)
{
    char list[64] = "", name[32];
    const char *rest = text, *item;
    size_t length;

    while (oc_list_next(&rest, &item, &length)) {
        check(item >= text && length <= strlen(item) && NULL == memchr(item, ',', length));
        if (length < sizeof(name)) {
            memcpy(name, item, length);
            name[length] = '\0';
            check(oc_list_has(text, name));
            (void) oc_devices_add(list, sizeof(list), name);
            check(NULL != memchr(list, '\0', sizeof(list)));
            if (!oc_devices_add(list, sizeof(list), name)) {
                break;
            }
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint8_t how = size > 0 ? data[0] : 0;
    char *text;

    if (0 == size) {
        return 0;
    }
    if (0 == how % 4) {
        as_file(data + 1, size - 1);
        return 0;
    }
    text = malloc(size);
    memcpy(text, data + 1, size - 1);
    text[size - 1] = '\0';
    as_value(&oc_job_settings_table, text);
    as_value(&oc_server_settings_table, text);
    as_size(text);
    as_range(text, 1 + how);
    as_list(text);
    as_words(text);
    free(text);
    return 0;
}
