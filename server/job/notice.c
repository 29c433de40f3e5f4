/* SPDX-License-Identifier: BSD-3-Clause */
/* What the processes of a job are told. */
#include "server/job/notice.h"

#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>

void oc_session_name(const oc_session_t *session, char name[OC_SESSION_NAME_SIZE])
{
    if (OC_PROCESS_LEAF == session->process) {
        snprintf(name, OC_SESSION_NAME_SIZE, "leaf server %s", session->leaf);
    } else {
        snprintf(name, OC_SESSION_NAME_SIZE, "process %u", session->process);
    }
}

/* A client that cannot be written to is found gone when it is read from. */
void oc_session_send(oc_session_t *session, const oc_control_t *message)
{
    if (OC_OK != oc_stream_send(&session->stream, message)) {
        shutdown(session->stream.fd, SHUT_RDWR);
    } else if (oc_stream_wants_write(&session->stream)) {
        oc_loop_change(session->job->loop, &session->watch, EPOLLIN | EPOLLOUT);
    }
}

void oc_session_notice(oc_session_t *session, oc_control_type_t type, uint64_t group,
                       oc_status_t status, const char *text)
{
    oc_control_t message = {.type = (uint16_t) type};

    message.notice.group = group;
    message.notice.status = status;
    message.notice.text = (oc_bytes_t) {.data = (const uint8_t *) text,
                                        .length = (uint32_t) strnlen(text, OC_MAX_TEXT)};
    oc_session_send(session, &message);
}
