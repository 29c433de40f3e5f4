/* SPDX-License-Identifier: BSD-3-Clause */
/* Prints what optcast-info says, for people or for programs. */
#include "tools/info_tell.h"

#include <stdarg.h>
#include <stdio.h>

static bool parsable;

void oc_info_be_parsable(void)
{
    parsable = true;
}

bool oc_info_is_parsable(void)
{
    return parsable;
}

void oc_info_title(const char *text)
{
    if (!parsable) {
        printf("\n%s\n", text);
    }
}

void oc_info_tell(const char *label, const char *key, const char *format, ...)
{
    va_list args;

    if (parsable) {
        printf("optcast:%s:", key);
    } else {
        printf("  %-12s ", label);
    }
    va_start(args, format);
    vprintf(format, args);
    va_end(args);
    printf("\n");
}

void oc_info_say(const char *label, const char *format, ...)
{
    va_list args;

    if (parsable) {
        return;
    }
    printf("  %-12s ", label);
    va_start(args, format);
    vprintf(format, args);
    va_end(args);
    printf("\n");
}
