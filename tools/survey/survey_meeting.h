/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The processes of a survey find each other: the coordinator listens, the others connect to it.
 * Anybody may connect, so that all have to know a word.
 */
#ifndef OC_TOOLS_SURVEY_SURVEY_MEETING_H
#define OC_TOOLS_SURVEY_SURVEY_MEETING_H

#include "net/address.h"
#include "tools/survey/survey_link.h"

typedef struct {
    oc_survey_link_t link;
    oc_survey_hello_t hello;
} oc_survey_guest_t;

typedef struct {
    int listen_fd;             /* stays the caller's */
    const char *token;
    uint32_t expected;         /* hosts, or processes, with the coordinator's own */
    bool processes;            /* … of which a host may have several: one takes part */
    uint64_t end;              /* by oc_clock_ns: waits until then */
    oc_survey_guest_t *guests; /* as many as are expected; the first has the coordinator's link */
    uint32_t count;            /* of guests that have come */
    uint32_t spare;            /* processes that were sent away: their hosts have another one */
} oc_survey_meeting_t;

/*
 * Waits for all. The first guest stays the first one, the others are sorted by name. False, with a
 * sentence in error, if not all have come; those that have are in guests all the same.
 */
bool oc_survey_meet(oc_survey_meeting_t *meeting, char *error, size_t error_size);

/* Tells all, and closes their links. text: why it is over; NULL: all is done. */
void oc_survey_part(oc_survey_guest_t *guests, uint32_t count, const char *text);

/*
 * Connects to one of these addresses, again and again until end: the coordinator may come later.
 * Returns a descriptor, or -1 with a sentence in error.
 */
int oc_survey_reach(const oc_sockaddr_t *addresses, unsigned count, uint64_t end, char *error,
                    size_t error_size);

#endif
