/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A connection between two processes of optcast-info --multicast: whole messages over a nonblocking
 * stream socket. One thread at a time.
 */
#ifndef OC_TOOLS_SURVEY_SURVEY_LINK_H
#define OC_TOOLS_SURVEY_SURVEY_LINK_H

#include "tools/survey/survey_wire.h"

typedef struct {
    int fd;                    /* -1: there is none */
    uint8_t bytes[OC_SURVEY_FRAME];
    size_t used;               /* of bytes: what has come of the next message */
} oc_survey_link_t;

/* fd becomes the link's, and nonblocking. */
void oc_survey_link_init(oc_survey_link_t *link, int fd);
/* Nothing happens if there is none. */
void oc_survey_link_close(oc_survey_link_t *link);

/* Waits for room until end, by oc_clock_ns. false: the other has gone, or takes nothing. */
bool oc_survey_link_send(oc_survey_link_t *link, const oc_survey_message_t *message, uint64_t end);

/*
 * A message, if one has come. OC_IN_PROGRESS: not yet. OC_ERR_UNREACHABLE: the other has gone.
 * OC_ERR_INVALID: what comes is no message.
 */
oc_status_t oc_survey_link_take(oc_survey_link_t *link, oc_survey_message_t *message);

/* The same, and waits for it until end. OC_ERR_TIMEOUT: none has come. */
oc_status_t oc_survey_link_await(oc_survey_link_t *link, oc_survey_message_t *message,
                                 uint64_t end);

#endif
