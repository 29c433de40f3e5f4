/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fuzz target: bytes through a stream in pieces of any size. However they are cut, the stream
 * must find the same messages in them as the codec does in the whole.
 */
/* Test: default 5; all 60 */
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "control/stream.h"

#define MAX_BODY  3000
#define MAX_INPUT 8192

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Compares the next messages of the stream with what the codec finds at *at. */
static oc_status_t compare(oc_stream_t *stream, const uint8_t *data, size_t size, size_t *at)
{
    oc_control_t got, expected;
    oc_status_t status;
    size_t used;
    long length;

    for (;;) {
        status = oc_stream_next(stream, &got, &used);
        if (OC_IN_PROGRESS == status) {
            return status;
        }
        length = oc_control_decode(data + *at, size - *at, MAX_BODY, &expected);
        if (OC_OK != status) {
            if (length != (long) status) {
                abort();
            }
            return status;
        }
        if (length != (long) used || got.type != expected.type
            || 0 != memcmp(stream->in, data + *at, used)) {
            abort();
        }
        *at += used;
        oc_stream_drop(stream, used);
        if (stream->in_capacity > 2 * (MAX_BODY + OC_FRAME_SIZE) + 4096) {
            abort();
        }
    }
}

/* Nothing more may be found at the end than is missing for a whole message. */
static void check_rest(oc_status_t status, const uint8_t *data, size_t size, size_t at)
{
    oc_control_t message;

    if (OC_IN_PROGRESS == status && at < size
        && 0 != oc_control_decode(data + at, size - at, MAX_BODY, &message)) {
        abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    oc_status_t status = OC_IN_PROGRESS, end = OC_OK;
    size_t sent = 0, at = 0, num_cuts;
    const uint8_t *cuts = data;
    oc_stream_t stream;
    int pair[2];

    /* the first bytes say where to cut */
    if (size < 1 || size > MAX_INPUT || size < 1u + data[0] % 16
        || 0 != socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, pair)) {
        return 0;
    }
    num_cuts = data[0] % 16;
    data += 1 + num_cuts;
    size -= 1 + num_cuts;
    oc_stream_init(&stream, pair[0], MAX_BODY);
    for (size_t i = 0; sent < size && OC_IN_PROGRESS == status; i++) {
        size_t piece = num_cuts > 0 ? cuts[1 + i % num_cuts] + 1u : size;

        piece = piece < size - sent ? piece : size - sent;
        if ((ssize_t) piece != send(pair[1], data + sent, piece, MSG_NOSIGNAL)) {
            abort();
        }
        sent += piece;
        if (OC_OK != oc_stream_read(&stream)) {
            abort();
        }
        status = compare(&stream, data, size, &at);
    }
    close(pair[1]);
    /* whatever a full buffer left behind */
    while (OC_IN_PROGRESS == status && OC_OK == end) {
        end = oc_stream_read(&stream);
        status = compare(&stream, data, size, &at);
    }
    check_rest(status, data, size, at);
    oc_stream_close(&stream);
    return 0;
}
