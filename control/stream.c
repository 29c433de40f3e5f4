/* SPDX-License-Identifier: BSD-3-Clause */
/* Buffers between control messages and a socket. */
#include "control/stream.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "base/descriptors.h"

#define FIRST_CAPACITY 4096

/* A peer that lets this much pile up does not read any more. */
#define MAX_OUTPUT (4 * (OC_MAX_BODY + OC_FRAME_SIZE))

void oc_stream_init(oc_stream_t *stream, int fd, size_t max_body)
{
    *stream = (oc_stream_t) {.fd = fd, .max_body = max_body};
}

void oc_stream_close(oc_stream_t *stream)
{
    if (stream->fd >= 0) {
        oc_fd_close(stream->fd);
    }
    free(stream->in);
    free(stream->out);
    *stream = (oc_stream_t) {.fd = -1};
}

static bool stream_reserve(uint8_t **buffer, size_t *capacity, size_t needed)
{
    size_t size = *capacity > 0 ? *capacity : FIRST_CAPACITY;
    uint8_t *grown;

    while (size < needed) {
        size *= 2;
    }
    if (size == *capacity) {
        return true;
    }
    grown = realloc(*buffer, size);
    if (NULL == grown) {
        return false;
    }
    *buffer = grown;
    *capacity = size;
    return true;
}

static oc_status_t read_until(oc_stream_t *stream, bool end)
{
    size_t limit = stream->max_body + OC_FRAME_SIZE;
    ssize_t got;

    while (stream->in_used < limit) {
        if (!stream_reserve(&stream->in, &stream->in_capacity, stream->in_used + 1)) {
            return OC_ERR_NO_MEMORY;
        }
        got = recv(stream->fd, stream->in + stream->in_used,
                   stream->in_capacity - stream->in_used, 0);
        if (got < 0 && EINTR == errno) {
            continue;
        }
        if (got < 0 && (EAGAIN == errno || ENOTCONN == errno)) {
            return OC_OK;
        }
        if (got <= 0) {
            /* what came before the end is still to be looked at */
            return OC_ERR_UNREACHABLE;
        }
        stream->in_used += (size_t) got;
        if (!end && stream->in_used < stream->in_capacity) {
            return OC_OK;
        }
    }
    return OC_OK;
}

oc_status_t oc_stream_read(oc_stream_t *stream)
{
    return read_until(stream, true);
}

oc_status_t oc_stream_read_some(oc_stream_t *stream)
{
    return read_until(stream, false);
}

oc_status_t oc_stream_next(oc_stream_t *stream, oc_control_t *message, size_t *used)
{
    long length;

    if (0 == stream->in_used) {
        return OC_IN_PROGRESS;
    }
    length = oc_control_decode(stream->in, stream->in_used, stream->max_body, message);
    if (length < 0) {
        return (oc_status_t) length;
    }
    if (0 == length) {
        return OC_IN_PROGRESS;
    }
    *used = (size_t) length;
    return OC_OK;
}

void oc_stream_drop(oc_stream_t *stream, size_t used)
{
    stream->in_used -= used;
    memmove(stream->in, stream->in + used, stream->in_used);
}

oc_status_t oc_stream_flush(oc_stream_t *stream)
{
    ssize_t sent;

    while (stream->out_used > 0) {
        sent = send(stream->fd, stream->out + stream->out_start, stream->out_used, MSG_NOSIGNAL);
        if (sent < 0 && EINTR == errno) {
            continue;
        }
        if (sent < 0 && (EAGAIN == errno || ENOTCONN == errno)) {
            return OC_OK;
        }
        if (sent < 0) {
            return OC_ERR_UNREACHABLE;
        }
        stream->out_start += (size_t) sent;
        stream->out_used -= (size_t) sent;
    }
    stream->out_start = 0;
    return OC_OK;
}

static size_t encoded_bound(const oc_control_t *message)
{
    size_t bound = OC_FRAME_SIZE + 1024 + OC_MAX_TEXT;

    if (OC_CONTROL_HELLO == message->type) {
        bound += message->hello.address.length;
    } else if (OC_CONTROL_ROUTE == message->type) {
        bound += message->route.address.length;
    } else if (OC_CONTROL_WELCOME == message->type) {
        for (unsigned i = 0; i < message->welcome.num_aggregators; i++) {
            bound += message->welcome.address[i].length + 4;
        }
    }
    return bound;
}

oc_status_t oc_stream_send(oc_stream_t *stream, const oc_control_t *message)
{
    size_t bound = encoded_bound(message), length;

    if (stream->out_used + bound > MAX_OUTPUT) {
        return OC_ERR_TIMEOUT;
    }
    if (stream->out_start > 0) {
        memmove(stream->out, stream->out + stream->out_start, stream->out_used);
        stream->out_start = 0;
    }
    if (!stream_reserve(&stream->out, &stream->out_capacity, stream->out_used + bound)) {
        return OC_ERR_NO_MEMORY;
    }
    length = oc_control_encode(message, stream->out + stream->out_used,
                               stream->out_capacity - stream->out_used);
    if (0 == length) {
        return OC_ERR_INVALID;
    }
    stream->out_used += length;
    return oc_stream_flush(stream);
}

bool oc_stream_wants_write(const oc_stream_t *stream)
{
    return stream->out_used > 0;
}
