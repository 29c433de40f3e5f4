/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The gate: a listening socket and the strangers in front of it. A stranger may ask how the server
 * is, a few times, and send one HELLO, of limited size and within limited time; whoever sends
 * anything else is refused and forgotten. When there are too many, the one who came first gives way
 * to the one who comes.
 */
#ifndef OC_SERVER_JOB_GATE_H
#define OC_SERVER_JOB_GATE_H

#include "net/loop.h"
#include "net/socket.h"
#include "protocol/control.h"

typedef struct oc_gate oc_gate_t;

/*
 * Somebody with a valid HELLO: takes the socket over and returns true, or returns false with a
 * reason. hello points into bytes, which are the message as it came and are gone after the call.
 */
typedef bool (*oc_gate_admit_t)(void *arg, int fd, const oc_hello_t *hello, const uint8_t *bytes,
                                size_t length, char *reason, size_t reason_size);

/* What QUERY is answered with; release must stay. */
typedef oc_server_status_t (*oc_gate_status_t)(void *arg);

/* How many strangers there may be at a time; fewer where the process may have few descriptors. */
#define OC_GATE_DAEMON   1024u
#define OC_GATE_EMBEDDED 64u

/* address is updated to what was taken. On failure a sentence in error. */
oc_status_t oc_gate_open(oc_loop_t *loop, oc_sockaddr_t *address, unsigned max_strangers,
                         oc_gate_admit_t admit, void *arg, oc_gate_t **gate, char *error,
                         size_t error_size);

/* QUERYs are answered from now on, with admit's arg; otherwise they are refused. */
void oc_gate_answer(oc_gate_t *gate, oc_gate_status_t status);

/* Strangers are dropped without a word. NULL is allowed. */
void oc_gate_close(oc_gate_t *gate);

/* How long the loop may sleep until oc_gate_tick: ms. */
int oc_gate_timeout(const oc_gate_t *gate);

/* Whether there is anybody for oc_gate_tick to look after. */
bool oc_gate_has_strangers(const oc_gate_t *gate);

/* To be called about once a second: strangers who take too long are refused. */
void oc_gate_tick(oc_gate_t *gate);

/* Tells a connected client no, and why, as far as it listens; closes the socket. */
void oc_refuse(int fd, oc_status_t status, const char *reason);

#endif
