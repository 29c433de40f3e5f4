/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Messages between the supervisor and the data process of a job, over a SOCK_SEQPACKET pair. Both
 * ends are this program, so messages are plain structures. But a data process talks to strangers,
 * who might take it over: so the supervisor checks all that it receives.
 */
#ifndef OC_SERVER_DAEMON_CHANNEL_H
#define OC_SERVER_DAEMON_CHANNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/limits.h"

typedef enum {
    OC_CHANNEL_BEGIN,  /* supervisor: first of all; bytes are an oc_data_process_config_t */
    OC_CHANNEL_ADOPT,  /* supervisor: a client; fd is attached, bytes are its HELLO */
    OC_CHANNEL_DRAIN,  /* supervisor: finish and go */
    OC_CHANNEL_ECHO,   /* both: answer to ASK; of the data process, number: as in IDLE */
    OC_CHANNEL_ASK,    /* both: are you there? Not again before ECHO, which answers the last one */
    OC_CHANNEL_IDLE,   /* data process: no sessions; number: clients adopted so far */
    OC_CHANNEL_BOUND,  /* data process: of its memory, from now on; bytes are an oc_bound_sizes_t */
    OC_CHANNEL_OVER,   /* supervisor: beyond it; bytes are an oc_channel_over_t */
    OC_CHANNEL_JOINED, /* data process: some client has joined a group */
    OC_CHANNEL_RETIRE, /* supervisor: if none has: its place is needed */
    OC_CHANNEL_LEAVE,  /* supervisor: answer to IDLE when nobody else is under way */
} oc_channel_type_t;

typedef struct {
    uint32_t type;     /* oc_channel_type_t */
    uint32_t number;
    uint32_t length;
    uint8_t bytes[OC_MAX_HELLO_BODY + 64];
} oc_channel_message_t;

/* Of the memory of a data process, by its cgroup. */
typedef struct {
    uint64_t held, bound;
} oc_channel_over_t;

/*
 * Sends a message, with a descriptor unless fd is -1. Returns false if the other end is gone or
 * does not read. Never blocks.
 */
bool oc_channel_send(int channel, const oc_channel_message_t *message, int fd);

/*
 * Receives a message. Returns 1 with the message, and its descriptor or -1 in *fd; 0 if there is
 * none; -1 if the other end is gone, or has sent something else. If fd is NULL no descriptor is
 * expected, and one that comes is closed. Never blocks.
 */
int oc_channel_receive(int channel, oc_channel_message_t *message, int *fd);

#endif
