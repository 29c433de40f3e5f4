/* SPDX-License-Identifier: BSD-3-Clause */
/* Owns the text that says which faults a network has. */
#include "tests/faults/cast_faults.h"

#include <stdio.h>
#include <string.h>

#define MAX_SEED 1000000000000000000ull

bool oc_faults_any(const oc_faults_t *faults)
{
    return faults->drop > 0 || faults->drop_sent > 0 || faults->duplicate > 0
           || faults->reorder > 0 || faults->delay > 0 || faults->cut > 0;
}

/* A number of digits only, as in any locale. Returns what follows it; NULL: there is none. */
static const char *read_digits(const char *text, uint64_t *value, double *scale)
{
    const char *at = text;

    while (*at >= '0' && *at <= '9') {
        if (*value > (UINT64_MAX - 9) / 10) {
            return NULL;
        }
        *value = *value * 10 + (uint64_t) (*at++ - '0');
        *scale *= 10;
    }
    return at > text ? at : NULL;
}

static bool read_share(const char *text, double *share)
{
    uint64_t digits = 0;
    double scale = 1, unused = 1;
    const char *end = read_digits(text, &digits, &unused);

    if (NULL != end && '.' == *end) {
        end = read_digits(end + 1, &digits, &scale);
    }
    if (NULL == end || '\0' != *end || (double) digits > scale) {
        return false;
    }
    *share = (double) digits / scale;
    return true;
}

static bool read_number(const char *text, uint64_t limit, uint64_t *number)
{
    uint64_t digits = 0;
    double unused = 1;
    const char *end = read_digits(text, &digits, &unused);

    if (NULL == end || '\0' != *end || digits > limit) {
        return false;
    }
    *number = digits;
    return true;
}

static double *share_named(oc_faults_t *faults, const char *name)
{
    const struct {
        const char *name;
        double *share;
    } shares[] = {{"drop", &faults->drop},
                  {"drop_sent", &faults->drop_sent},
                  {"duplicate", &faults->duplicate},
                  {"reorder", &faults->reorder},
                  {"delay", &faults->delay}};

    for (unsigned i = 0; i < sizeof(shares) / sizeof(shares[0]); i++) {
        if (0 == strcmp(shares[i].name, name)) {
            return shares[i].share;
        }
    }
    return NULL;
}

static oc_status_t complain(char *error, size_t error_size, const char *name, const char *value,
                            const char *expected)
{
    snprintf(error, error_size, "%s=%s: %s is %s", name, value, name, expected);
    return OC_ERR_INVALID;
}

static oc_status_t set_number(oc_faults_t *faults, const char *name, const char *value,
                              char *error, size_t error_size)
{
    uint64_t number;

    if (0 == strcmp(name, "burst")) {
        if (!read_number(value, OC_FAULTS_MAX_BURST, &number) || 0 == number) {
            return complain(error, error_size, name, value, "a number from 1 to 1000000");
        }
        faults->burst = (unsigned) number;
    } else if (0 == strcmp(name, "cut")) {
        if (!read_number(value, OC_FAULTS_MAX_CUT, &number) || 0 == number) {
            return complain(error, error_size, name, value, "a number from 1 to 1000000");
        }
        faults->cut = (unsigned) number;
    } else if (0 == strcmp(name, "delay_ms")) {
        if (!read_number(value, OC_FAULTS_MAX_DELAY_MS, &number) || 0 == number) {
            return complain(error, error_size, name, value,
                            "a number of milliseconds from 1 to 3600000");
        }
        faults->delay_ms = (unsigned) number;
    } else if (0 == strcmp(name, "seed")) {
        if (!read_number(value, MAX_SEED, &faults->seed)) {
            return complain(error, error_size, name, value, "a number up to 10^18");
        }
    } else {
        snprintf(error, error_size,
                 "there is no fault '%s'; there are: drop, drop_sent, duplicate, reorder, delay, "
                 "burst, cut, delay_ms, seed",
                 name);
        return OC_ERR_INVALID;
    }
    return OC_OK;
}

/* item is changed. */
static oc_status_t set_fault(oc_faults_t *faults, char *item, char *error, size_t error_size)
{
    char *value = strchr(item, '=');
    double *share;

    if (NULL == value) {
        snprintf(error, error_size, "'%s' is not NAME=VALUE", item);
        return OC_ERR_INVALID;
    }
    *value++ = '\0';
    share = share_named(faults, item);
    if (NULL == share) {
        return set_number(faults, item, value, error, error_size);
    }
    if (!read_share(value, share)) {
        return complain(error, error_size, item, value,
                        "a share from 0 to 1 with up to 18 digits");
    }
    return OC_OK;
}

oc_status_t oc_faults_parse(const char *text, oc_faults_t *faults, char *error, size_t error_size)
{
    char item[64];

    memset(faults, 0, sizeof(*faults));
    while ('\0' != *text) {
        size_t length = strcspn(text, ",");
        oc_status_t status;

        if (length >= sizeof(item)) {
            snprintf(error, error_size, "'%.60s...' is too long", text);
            return OC_ERR_INVALID;
        }
        memcpy(item, text, length);
        item[length] = '\0';
        status = set_fault(faults, item, error, error_size);
        if (OC_OK != status) {
            return status;
        }
        text += length;
        if (',' == *text && '\0' == *++text) {
            snprintf(error, error_size, "nothing follows the last comma");
            return OC_ERR_INVALID;
        }
    }
    return OC_OK;
}
