/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A process of a job without the engine: it speaks the control protocol and has a UCX worker, and
 * may say and send what no client would. What goes wrong fails the test. Ranks are forked before
 * there is a member: UCX's thread, which accepts connections, would not be theirs.
 */
#ifndef OC_TESTS_ENGINE_MEMBER_H
#define OC_TESTS_ENGINE_MEMBER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "client/client.h"
#include "control/stream.h"
#include "ucx_backend/worker.h"

typedef struct {
    oc_stream_t stream;
    oc_worker_t *worker;
    oc_endpoint_t *endpoint;     /* of the server's first aggregator */
    uint8_t kept[65536];         /* the message heard last */
} member_t;

/* Whom members call, instead of 127.0.0.1, as a number; 0: nobody else. */
extern uint32_t member_peer;

/* Makes the worker, which takes longest; HELLO to this port of this host; and what answers it. */
void member_prepare(member_t *member);
void member_hello(member_t *member, uint16_t port, const oc_job_t *job, uint32_t process);
void member_welcome(member_t *member);

/* The first two. */
void member_greet(member_t *member, uint16_t port, const oc_job_t *job, uint32_t process);

/* All three: aggregators can be sent to. */
void member_open(member_t *member, uint16_t port, const oc_job_t *job, uint32_t process);

void member_say(member_t *member, const oc_control_t *message);

/* The next message, whose pointers are good until the next call; false: none, or the end. */
bool member_hear(member_t *member, oc_control_t *message, unsigned timeout_ms);

/* Whether the server has closed the connection, within that time. */
bool member_is_left(member_t *member, unsigned timeout_ms);

/* A message of this type that says this is the next one but PONGs, within timeout_ms. */
void member_expect(member_t *member, uint16_t type, const char *part, unsigned timeout_ms);

/* JOIN and JOINED. */
oc_joined_t member_join(member_t *member, const oc_join_t *join);

/* So many equal messages without announcement, tags counted up from this one by step. */
void member_flood(member_t *member, unsigned count, size_t length, uint64_t tag, uint64_t step);

/* BYE, if it is to end in order. */
void member_close(member_t *member, bool in_order);

#endif
