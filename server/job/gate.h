/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The gate: a listening socket, and strangers, which are connections without a valid HELLO. A
 * stranger may send a few QUERYs and one HELLO, of limited size and within limited time. Whoever
 * sends anything else is refused and disconnected. When there are too many strangers, the oldest
 * is disconnected in favour of the newest. On the thread of the loop; nothing blocks.
 */
#ifndef OC_SERVER_JOB_GATE_H
#define OC_SERVER_JOB_GATE_H

#include "net/loop.h"
#include "net/socket.h"
#include "protocol/control.h"

typedef struct oc_gate oc_gate_t;

/*
 * Called for a stranger with a valid HELLO. Takes over the socket and returns true, or returns
 * false with a reason. hello points into bytes, the message as received, which is valid during the
 * call only.
 */
typedef bool (*oc_gate_admit_t)(void *arg, int fd, const oc_hello_t *hello, const uint8_t *bytes,
                                size_t length, char *reason, size_t reason_size);

/* What QUERY is answered with; release must stay. */
typedef oc_server_status_t (*oc_gate_status_t)(void *arg);

/* How many strangers there may be at a time; fewer where the process may have few descriptors. */
#define OC_GATE_DAEMON   1024u
#define OC_GATE_EMBEDDED 64u

/* Opens the gate at a listening socket (oc_listen), which it takes over, also on failure. An error sets a sentence in error. */
oc_status_t oc_gate_open(oc_loop_t *loop, int listening, unsigned max_strangers,
                         oc_gate_admit_t admit, void *arg, oc_gate_t **gate, char *error,
                         size_t error_size);

/* From now on the gate answers QUERYs by status, with admit's arg. Before, it refuses them. */
void oc_gate_answer(oc_gate_t *gate, oc_gate_status_t status);

/* Closes the gate, and the connections of strangers without an answer. NULL is allowed. */
void oc_gate_close(oc_gate_t *gate);

/* Returns how long the loop may sleep until oc_gate_tick, in ms. */
int oc_gate_timeout(const oc_gate_t *gate);

/* Whether there are strangers, so that oc_gate_tick has to be called. */
bool oc_gate_has_strangers(const oc_gate_t *gate);

/* To be called about once a second: strangers who take too long are refused. */
void oc_gate_tick(oc_gate_t *gate);

/*
 * Sends a refusal with the reason to a connected client, if it can be sent without waiting, and
 * closes the socket.
 */
void oc_refuse(int fd, oc_status_t status, const char *reason);

#endif
