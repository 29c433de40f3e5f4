/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A process's part in multicast: its transports, pooled for all groups of the job, the UCX worker
 * for messages between ranks, and the groups that use them. The door of this folder.
 *
 * Not thread-safe: callers lock. Nothing is opened before it is needed. What is open stays so until
 * oc_multicast_destroy, but for multicast addresses, of which few stay joined that no group uses:
 * switches and subnet managers have few of them.
 */
#ifndef OC_MULTICAST_SERVICE_MULTICAST_H
#define OC_MULTICAST_SERVICE_MULTICAST_H

#include <netinet/in.h>
#include <poll.h>

#include "base/limits.h"
#include "base/settings.h"
#include "multicast/core/cast_core.h"
#include "multicast/flood/flood_judge.h"
#include "multicast/wire/contact.h"
#include "node/offer.h"

typedef struct oc_multicast oc_multicast_t;

/* A multicast address that this process has joined, or is about to. */
typedef struct oc_cast_slot oc_cast_slot_t;

/*
 * Bytes that a rank tells all others when a group is set up; its neighbours (oc_cast_neighbours)
 * get its contact (OC_CONTACT_MAX bytes), too.
 */
#define OC_MULTICAST_RECORD_SIZE 152

/* Most flood tests whose descriptors are waited for. */
#define OC_MULTICAST_FLOOD_FDS 4

/*
 * Most descriptors that oc_multicast_sleep fills in: 16 addresses of each transport, UCX, and flood
 * tests.
 */
#define OC_MULTICAST_MAX_FDS (33 + OC_MULTICAST_FLOOD_FDS)

/* Of a group that is declined for a reason that was told before. */
#define OC_BLAMES_NOBODY UINT32_MAX

typedef struct {
    const oc_job_settings_t *settings;  /* outlives it */
    oc_cast_counters_t *counters;       /* outlives it */
    const uint8_t *job_id;              /* OC_JOB_ID_SIZE bytes; copied */
    const uint8_t *job_key;             /* OC_JOB_KEY_SIZE bytes that only its ranks have; copied */
    const char *net_devices;            /* of UCX, as of oc_worker_open; copied */
    uint32_t process;                   /* rank in the job */
} oc_multicast_config_t;

typedef struct {
    uint32_t num_ranks, rank;
    const uint8_t *records;    /* num_ranks * OC_MULTICAST_RECORD_SIZE bytes, in rank order */
    const uint8_t *contacts;   /* of the neighbours: OC_CONTACT_MAX bytes each, in their order */
    bool patient;              /* ranks may be elsewhere for long: no timeout for probing */
} oc_multicast_params_t;

/* What the ranks of a group agree on; of oc_multicast_judge, for oc_multicast_join. */
typedef struct {
    uint64_t token;
    unsigned carrier;          /* which transport */
    uint32_t datagram_size;    /* bytes */
    uint32_t staging;          /* datagrams that each rank keeps */
    bool tested;               /* there is a flood test after probing: does the network deliver what is sent
                                  to a multicast address to hosts that have not joined it? */
    unsigned role;             /* … in which this is this rank's part */
} oc_multicast_terms_t;

/* What those need that watch a flood test without a part in a group. */
typedef struct {
    uint64_t token;            /* random, and so is … */
    uint8_t key[OC_JOB_KEY_SIZE]; /* … the key, which is for this test alone */
    struct in_addr probes, marks; /* addresses: of what they are not to join, which is the group's, and to join … */
    uint16_t port;             /* … with this port */
} oc_flood_call_t;

oc_status_t oc_multicast_create(const oc_multicast_config_t *config, oc_multicast_t **multicast);

/* Groups that are left are freed. Waits for nothing. NULL is allowed. */
void oc_multicast_destroy(oc_multicast_t *multicast);

/*
 * What this rank tells the others: how it is reached, which transports it has, on which host it
 * is. Opens what it needs for that. settings: what has to be equal on all ranks beside
 * the settings of jobs. offer: to the ranks of its host.
 * An error: this rank cannot take part, which is what the record says then, and error says why.
 */
oc_status_t oc_multicast_record(oc_multicast_t *multicast, uint64_t settings,
                                const oc_offer_t *offer, uint8_t record[OC_MULTICAST_RECORD_SIZE],
                                uint8_t contact[OC_CONTACT_MAX], char *error, size_t error_size);

/* What a record offers to the ranks of its host. Nothing, if it makes no sense. */
void oc_multicast_offer(const uint8_t record[OC_MULTICAST_RECORD_SIZE], oc_offer_t *offer);

/* The record of a rank that cannot take part. */
void oc_multicast_refuse(uint8_t record[OC_MULTICAST_RECORD_SIZE]);

/*
 * Judges the records of all ranks of a group, each of which comes to the same terms; contacts are
 * not needed. OC_DECLINED: all ranks find in the records that it is not possible, and *blamed is
 * the rank that is the reason, and knows more about it than the others, or OC_BLAMES_NOBODY.
 * Another error is this rank's own.
 */
oc_status_t oc_multicast_judge(const oc_multicast_t *multicast,
                               const oc_multicast_params_t *params, oc_multicast_terms_t *terms,
                               uint32_t *blamed, char *error, size_t error_size);

/*
 * When all records and contacts are there: the hosts of its neighbours may connect to this rank.
 * All ranks have to have done so before any of them joins, or its messages would be dropped. false:
 * this rank could not.
 */
bool oc_multicast_admit(oc_multicast_t *multicast, const oc_multicast_params_t *params);

/* Sockets that other hosts can connect to, too; of oc_multicast_record. */
unsigned oc_multicast_open_sockets(const oc_multicast_t *multicast);

/*
 * With terms, before it is joined: joins the group's own multicast address, which is the same on
 * all ranks in params, and kept for the group until oc_multicast_join or oc_multicast_release get
 * it. false: this rank cannot have it, or has as many as it may (coll_optcast_multicast_groups);
 * then all ranks have to join without one, and use the job's common address.
 */
bool oc_multicast_reserve(oc_multicast_t *multicast, const oc_multicast_params_t *params,
                          const oc_multicast_terms_t *terms, oc_cast_slot_t **own);

/* Gives back what oc_multicast_reserve has kept. NULL is allowed. */
void oc_multicast_release(oc_multicast_t *multicast, oc_cast_slot_t *own);

/*
 * Joins a group and begins to probe, on terms that all its ranks have come to, by the address that
 * all ranks have reserved for it, or by the job's common one if own is NULL. own is given back, now
 * or when the group is left. params may be of fewer ranks than were judged: those that multicast
 * for their hosts, each of which says with which number among them. An error: this rank cannot. So
 * it is with a group that has failed when it is returned; but then the others learn it from this
 * rank as long as it does not leave.
 */
oc_status_t oc_multicast_join(oc_multicast_t *multicast, const oc_multicast_params_t *params,
                              const oc_multicast_terms_t *terms, oc_cast_slot_t *own, uint64_t now,
                              oc_cast_group_t **group, char *error, size_t error_size);

/* This rank has heard all others. false: it sends for the test; again later. */
bool oc_multicast_flood_is_sent(oc_multicast_t *multicast, const oc_cast_group_t *group,
                                uint64_t now);

/*
 * All ranks have sent, and the test ends. What this host has seen; of OC_FLOOD_FLOODED a sentence.
 * NULL, of a rank that is not in it: nothing.
 */
oc_flood_verdict_t oc_multicast_flood_end(oc_multicast_t *multicast, const oc_cast_group_t *group,
                                          char *text, size_t text_size);

/* Why groups do without multicast: OC_FLOOD_FLOODED, OC_FLOOD_BLIND. In one sentence. */
void oc_multicast_explain_flood(oc_flood_verdict_t verdict, char *text, size_t text_size);

/* What the hosts of a group have seen together, for groups to come. */
void oc_multicast_flood_note(oc_multicast_t *multicast, const oc_multicast_terms_t *terms,
                             oc_flood_verdict_t verdict);

/*
 * To how many hosts the group sends, if that goes through a network that may deliver it to those that have not
 * joined; else 0. NULL: 0.
 */
uint32_t oc_multicast_flood_hosts(const oc_multicast_t *multicast, const oc_cast_group_t *group);

/*
 * A flood test of the network of a group, for others to watch: this process is to send. It goes on without
 * the group, too, and stays at its address until then. false: it cannot, or has one.
 */
bool oc_multicast_show_begin(oc_multicast_t *multicast, const oc_cast_group_t *group,
                             oc_flood_call_t *call);
/* It has begun, and has not ended: progress is needed. */
bool oc_multicast_show_is_on(const oc_multicast_t *multicast);
/* All that watch are ready. false: it sends; again later. */
bool oc_multicast_show_is_over(oc_multicast_t *multicast, uint64_t now);
/* Nothing happens if there is none. */
void oc_multicast_show_end(oc_multicast_t *multicast);

/*
 * oc_cast_start, for a group of oc_multicast_join; progress goes on with it. *which, unless which is NULL, is what has
 * the operation: the group, or its companion, whose operations overlap with its own. It is for oc_multicast_more and
 * questions about the operation; what becomes of it becomes of the group.
 */
oc_status_t oc_multicast_start(oc_multicast_t *multicast, oc_cast_group_t *group,
                               const oc_cast_args_t *args, uint64_t now, oc_cast_group_t **which);

/* As oc_cast_group_is_closed, of all operations that were started. */
bool oc_multicast_is_closed(const oc_multicast_t *multicast, const oc_cast_group_t *group);

/* As oc_cast_group_fail, with all operations that were started. */
void oc_multicast_fail(oc_multicast_t *multicast, oc_cast_group_t *group, oc_status_t status,
                       const char *reason);

/* More of its own block is ready than was: see oc_cast_args_t. Of what has the operation. */
void oc_multicast_more(oc_multicast_t *multicast, const oc_cast_group_t *which);

/* Frees a group of oc_multicast_join. Does not wait for peers. NULL is allowed. */
void oc_multicast_leave(oc_multicast_t *multicast, oc_cast_group_t *group);

/*
 * What a group uses, for messages: "udp multicast 239.1.2.3 on eth0, 8 hosts"; behind the address
 * " (common to the job)" if a rank had no room for one of the group's own.
 */
void oc_multicast_describe(const oc_multicast_t *multicast, const oc_cast_group_t *group,
                           char *buffer, size_t size);

/* Moves everything on. Cheap when nothing is pending. */
void oc_multicast_progress(oc_multicast_t *multicast, uint64_t now);

/* The latest oc_cast_is_awaited_until of all groups; 0: no other operations have to wait. */
uint64_t oc_multicast_is_awaited_until(const oc_multicast_t *multicast, uint64_t now);

/* So many connections of this process send large vectors from now on: groups hold their own beside them. */
void oc_multicast_beside(oc_multicast_t *multicast, unsigned connections);

/* Probings, operations, and messages that have not left: they need progress. */
unsigned oc_multicast_pending(const oc_multicast_t *multicast);

/*
 * Gets ready to sleep: fills in at most OC_MULTICAST_MAX_FDS descriptors and shortens *timeout (ns)
 * to when progress is needed. Returns how many; -1: there is something to do at once.
 */
int oc_multicast_sleep(oc_multicast_t *multicast, struct pollfd *fds, uint64_t now,
                       uint64_t *timeout);

#endif
