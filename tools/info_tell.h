/* SPDX-License-Identifier: BSD-3-Clause */
/* What optcast-info says, for people or for programs. */
#ifndef OC_TOOLS_INFO_TELL_H
#define OC_TOOLS_INFO_TELL_H

#include <stdbool.h>

/* From now on for programs: "optcast:KEY:VALUE", one a line, and nothing else. */
void oc_info_be_parsable(void);
bool oc_info_is_parsable(void);

/* A heading, for people only. */
void oc_info_title(const char *text);

/* A fact: behind its label for people, its key for programs. label "": below the one before. */
void oc_info_tell(const char *label, const char *key, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* For people only. */
void oc_info_say(const char *label, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
