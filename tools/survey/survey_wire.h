/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the processes of optcast-info --multicast say to each other over TCP, as bytes. Whoever
 * connects may have written them: no length or text is trusted. Pure functions, any thread.
 */
#ifndef OC_TOOLS_SURVEY_SURVEY_WIRE_H
#define OC_TOOLS_SURVEY_SURVEY_WIRE_H

#include <stddef.h>

#include "base/status.h"
#include "tools/survey/survey_types.h"

#define OC_SURVEY_FRAME  1024u  /* bytes of the longest message */
#define OC_SURVEY_PREFIX 4u     /* at the beginning: how many follow */

typedef enum {
    OC_SURVEY_HELLO = 1,       /* to the coordinator, first: hello */
    OC_SURVEY_REFUSED,         /* the answer, if it is no: text */
    OC_SURVEY_PLAN,            /* else, when all have come: plan */
    OC_SURVEY_FACTS,           /* the answer: facts */
    OC_SURVEY_LISTEN,          /* count what comes of a step from now on: step */
    OC_SURVEY_SEND,            /* send it: step */
    OC_SURVEY_COUNT,           /* all of it was sent: step */
    OC_SURVEY_COUNTS,          /* the answer to each of these three: counts */
    OC_SURVEY_FLOOD,           /* begin a flood test: role, of oc_flood_role_t */
    OC_SURVEY_FLOOD_SEND,      /* all have begun: the sender sends */
    OC_SURVEY_FLOOD_END,       /* it has sent */
    OC_SURVEY_VERDICT,         /* the answer to each of these three: verdict */
    OC_SURVEY_END,             /* that was all */
    OC_SURVEY_TYPES
} oc_survey_type_t;

typedef struct {
    oc_survey_type_t type;
    union {
        oc_survey_hello_t hello;
        char text[OC_SURVEY_REASON];
        oc_survey_plan_t plan;
        oc_survey_facts_t facts;
        oc_survey_step_t step;
        oc_survey_counts_t counts;
        uint32_t role;
        uint32_t verdict;
    };
} oc_survey_message_t;

/* Returns the bytes that it takes, with the prefix. */
size_t oc_survey_encode(const oc_survey_message_t *message, uint8_t bytes[OC_SURVEY_FRAME]);

/*
 * The first message of what has come so far. OC_OK: *used bytes were its own. OC_IN_PROGRESS: it is
 * not whole. OC_ERR_INVALID: it is none. What is not printable in texts is '?' afterwards.
 */
oc_status_t oc_survey_decode(const uint8_t *bytes, size_t length, oc_survey_message_t *message,
                             size_t *used);

#endif
