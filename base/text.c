/* SPDX-License-Identifier: BSD-3-Clause */
/* Parsing of sizes and lists, and a hash to compare settings by. */
#include "base/text.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int unit_shift(char unit)
{
    switch (toupper((unsigned char) unit)) {
    case 'K':
        return 10;
    case 'M':
        return 20;
    case 'G':
        return 30;
    default:
        return -1;
    }
}

oc_status_t oc_parse_size(const char *text, uint64_t *value)
{
    unsigned long long number;
    char *end;
    int shift = 0;

    if (!isdigit((unsigned char) text[0])) {
        return OC_ERR_INVALID;
    }
    errno = 0;
    number = strtoull(text, &end, 10);
    if (0 != errno) {
        return OC_ERR_INVALID;
    }
    if ('\0' != *end) {
        shift = unit_shift(*end);
        if (shift < 0 || '\0' != end[1] || number > (UINT64_MAX >> shift)) {
            return OC_ERR_INVALID;
        }
    }
    *value = (uint64_t) number << shift;
    return OC_OK;
}

bool oc_list_next(const char **list, const char **name, size_t *length)
{
    if ('\0' == **list) {
        return false;
    }
    *name = *list;
    *length = strcspn(*list, ":,");
    *list += strcspn(*list, ",");
    *list += ',' == **list;
    return true;
}

bool oc_list_has(const char *list, const char *name)
{
    const char *listed;
    size_t length;

    while (oc_list_next(&list, &listed, &length)) {
        if (strlen(name) == length && 0 == memcmp(listed, name, length)) {
            return true;
        }
    }
    return false;
}

uint64_t oc_hash(uint64_t hash, const void *data, uint64_t length)
{
    const unsigned char *bytes = data;

    for (uint64_t i = 0; i < length; i++) {
        hash = (hash ^ bytes[i]) * 0x100000001b3ull;
    }
    return hash;
}
