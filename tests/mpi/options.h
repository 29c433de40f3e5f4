/* SPDX-License-Identifier: BSD-3-Clause */
/* The words NAME=VALUE of a program's command line. */
#ifndef TESTS_MPI_OPTIONS_H
#define TESTS_MPI_OPTIONS_H

#include <stdbool.h>
#include <string.h>

#include "check.h"

/* One that a program knows; where its value goes: one of the three. */
typedef struct {
    const char *name;
    int *number;
    double *seconds;
    const char **text;
} option_t;

/* Entries of a table of options: each is named like the field that it sets, the last ends it. */
#define OPTION_NUMBER(object, field)  {.name = #field, .number = &(object).field}
#define OPTION_SECONDS(object, field) {.name = #field, .seconds = &(object).field}
#define OPTION_TEXT(object, field)    {.name = #field, .text = &(object).field}
#define OPTIONS_END                   {.name = NULL}

/* false: word is not of this option, or its value is no number where one is wanted. */
static inline bool option_take(const option_t *option, const char *word)
{
    size_t length = strlen(option->name);
    double value;
    char *end;

    if (0 != strncmp(word, option->name, length) || '=' != word[length]) {
        return false;
    }
    if (NULL != option->text) {
        *option->text = word + length + 1;
        return true;
    }
    value = strtod(word + length + 1, &end);
    if (end == word + length + 1 || '\0' != *end) {
        return false;
    }
    if (NULL != option->number) {
        *option->number = (int) value;
    } else {
        *option->seconds = value;
    }
    return true;
}

/* After MPI_Init. What no option takes is wrong. */
static inline void options_read(int argc, char **argv, const option_t *options)
{
    for (int i = 1; i < argc; i++) {
        const option_t *option = options;

        while (NULL != option->name && !option_take(option, argv[i])) {
            option++;
        }
        if (NULL == option->name) {
            wrong("unknown option %s", argv[i]);
        }
    }
}

#endif
