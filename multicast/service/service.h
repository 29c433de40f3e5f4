/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The data model of a process's part in multicast, on one page.
 *
 *   multicast --< member               one group, and what it uses of the below
 *                 --- companion        a second group of its ranks, which is a member as well
 *             --- peers                processes of the job: endpoints and messages
 *             --- transports --< slot    one multicast address and its transport
 *             --< flood                  a member's test whether the network floods its datagrams
 *             --- show                   one for hosts that are no members
 */
#ifndef OC_MULTICAST_SERVICE_SERVICE_H
#define OC_MULTICAST_SERVICE_SERVICE_H

#include <uthash.h>

#include "base/limits.h"
#include "multicast/core/alternate.h"
#include "multicast/peers/cast_peers.h"
#include "multicast/service/cast_transports.h"
#include "multicast/flood/flood_test.h"
#include "multicast/service/multicast.h"
#include "multicast/transport/senders.h"
#include "multicast/wire/contact.h"

typedef struct oc_cast_member {
    oc_multicast_t *multicast;
    oc_cast_group_t *core;
    uint64_t token;
    uint32_t num_ranks, rank, num_hosts;
    oc_carrier_t carrier;
    oc_cast_peer_t **peers;         /* by rank; NULL for this one */
    oc_origin_t *origins;      /* by rank: of what it sends … */
    uint32_t num_admitted;     /* … the first so many are admitted */
    oc_outbox_t *outbox;
    oc_cast_slot_t *slot;      /* its multicast address; NULL: it could not be opened */
    bool crowded;              /* it is the job's common one: a rank has no room for another one */
    oc_flood_test_t *flood;    /* its set-up has a flood test, and this rank's part in it is not over */
    struct oc_cast_member *companion; /* alternates with it; NULL: it is alone */
    oc_alternate_t *alternate; /* of both; NULL: it is alone */
    bool second;               /* of the two */
    bool busy;                 /* probing, or in an operation */
    bool listed;               /* among the active ones */
    uint64_t due;              /* when it wants to be progressed */
    struct oc_cast_member *prev, *next;
    struct oc_cast_member *active_prev, *active_next;
    UT_hash_handle by_token, by_core;
} oc_cast_member_t;

struct oc_multicast {
    oc_multicast_config_t config;
    uint8_t job_id[OC_JOB_ID_SIZE], job_key[OC_JOB_KEY_SIZE];
    char *net_devices;         /* NULL: any */
    oc_cast_transports_t transports;
    oc_peers_t *peers;         /* NULL before the first record */
    oc_contact_t contact;      /* of this process; as old as peers */
    oc_senders_t senders;
    oc_cast_member_t *members;
    oc_cast_member_t *active;       /* members that are busy or want to be progressed */
    oc_cast_member_t *tokens, *cores;
    oc_flood_test_t *floods;   /* of all members, and … */
    oc_flood_test_t *show;     /* … one for others to watch; NULL: there is none */
    unsigned flood_tries;      /* in which this process could not look */
    unsigned num_busy;
    unsigned connections;      /* of the process that send large vectors meanwhile */
    uint64_t now;              /* of the progress that runs, or was the last */
};

/* That of a group which this process has joined; NULL: it has not, or there is no group. */
static inline oc_cast_member_t *oc_cast_member_of(const oc_multicast_t *multicast,
                                                  const oc_cast_group_t *group)
{
    oc_cast_member_t *member = NULL;

    if (NULL != group) {
        HASH_FIND(by_core, multicast->cores, &group, sizeof(group), member);
    }
    return member;
}

#endif
