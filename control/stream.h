/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Control messages over a nonblocking socket: an input buffer that grows up to one message of
 * the largest allowed size, an output buffer that takes what the socket does not.
 */
#ifndef OC_CONTROL_STREAM_H
#define OC_CONTROL_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "protocol/control.h"

typedef struct {
    int fd;
    size_t max_body;              /* of incoming messages; may be raised between messages */
    uint8_t *in;
    size_t in_used, in_capacity;
    uint8_t *out;
    size_t out_start, out_used, out_capacity;
} oc_stream_t;

/* Takes the socket over. Legal on any memory. */
void oc_stream_init(oc_stream_t *stream, int fd, size_t max_body);

/* Closes the socket and frees the buffers; legal on a stream of all zeros with fd -1, and twice. */
void oc_stream_close(oc_stream_t *stream);

/* Reads what is there. OC_OK, also when nothing was; OC_ERR_UNREACHABLE at the end or an error. */
oc_status_t oc_stream_read(oc_stream_t *stream);

/* The same, but may leave the end for the next call: one question to the system less. */
oc_status_t oc_stream_read_some(oc_stream_t *stream);

/*
 * The next whole message: OC_OK (its pointers are good until oc_stream_drop), OC_IN_PROGRESS
 * when more has to be read, or why the peer's bytes are no message.
 */
oc_status_t oc_stream_next(oc_stream_t *stream, oc_control_t *message, size_t *used);

/* Removes the message that oc_stream_next showed. */
void oc_stream_drop(oc_stream_t *stream, size_t used);

/* Queues a message and writes what the socket takes. Fails when the peer is gone or too slow. */
oc_status_t oc_stream_send(oc_stream_t *stream, const oc_control_t *message);

/* Writes more of what is queued; wants_write tells whether there is any. */
oc_status_t oc_stream_flush(oc_stream_t *stream);
bool oc_stream_wants_write(const oc_stream_t *stream);

#endif
