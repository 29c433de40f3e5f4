/* SPDX-License-Identifier: BSD-3-Clause */
/* One process of a crowd: its control connections, and what it is told to do with all of them. */
#ifndef OC_BENCH_SIZE_MEMBERS_H
#define OC_BENCH_SIZE_MEMBERS_H

#include "bench/size/crowd.h"

typedef enum {
    OC_CROWD_CONNECT = 'c',
    OC_CROWD_PING = 'p',
    OC_CROWD_JOIN = 'j',
} oc_crowd_deed_t;

/* Between the processes of a crowd: what is to be done next, and what came of it. */
struct oc_crowd_shared {
    oc_sockaddr_t server;
    uint8_t id[OC_JOB_ID_SIZE], key[OC_JOB_KEY_SIZE];
    uint8_t worker_address[OC_MAX_ADDRESS];
    uint32_t worker_address_length;
    double begin;              /* by the clock */
    double limit;
    unsigned at_a_time;
    oc_crowd_join_t join;
    uint8_t aggregators[OC_MAX_AGGREGATORS][OC_MAX_ADDRESS];    /* as the last WELCOME has them */
    uint32_t handle;           /* of the group that was joined last */
    oc_crowd_outcome_t outcomes[OC_CROWD_PROCESSES];
};

/* By which servers know what the members joined with this; of ranks alone on their hosts. */
uint64_t oc_crowd_group(const oc_crowd_join_t *join);

/* Members first to first + count - 1; ends the process when the channel does. */
void __attribute__((noreturn)) oc_members_run(oc_crowd_shared_t *shared, unsigned number,
                                              unsigned first, unsigned count, int channel);

#endif
