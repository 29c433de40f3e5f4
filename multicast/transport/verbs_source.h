/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The queue pair that a process sends from to all multicast addresses, and that others know it by,
 * with the ring of datagrams that wait in it. For verbs.c only; one thread at a time.
 */
#ifndef OC_MULTICAST_TRANSPORT_VERBS_SOURCE_H
#define OC_MULTICAST_TRANSPORT_VERBS_SOURCE_H

#include "multicast/transport/verbs.h"
#include "multicast/transport/verbs_port.h"
#include "multicast/transport/verbs_ring.h"
#include "multicast/transport/verbs_watch.h"

/* A power of two, and some batches. */
#define OC_VERBS_SEND_SLOTS 256u

struct oc_verbs_source {
    oc_verbs_port_t port;
    struct ibv_pd *domain;     /* of which address handles have to be */
    struct ibv_comp_channel *wakeups;
    struct ibv_cq *queue;      /* of completions */
    oc_verbs_ring_t ring;
    struct ibv_send_wr requests[OC_VERBS_SEND_SLOTS];
    struct ibv_sge pieces[OC_VERBS_SEND_SLOTS];
    uint32_t posted, sent;     /* datagrams, modulo 2^32 */
    bool awaited;              /* a transport sleeps, or is about to, until there is room */
    bool failed;               /* datagrams do not leave … */
    bool ended;                /* … nor will they again */
    uint64_t mended;           /* ns: when they did again */
    uint64_t pause;            /* ns: before the attempt after the next to mend it */
    oc_verbs_watch_t watch;    /* for this and all transports */
    oc_verbs_watcher_t watcher;
};

/* A multicast group. */
typedef struct {
    struct ibv_ah *handle;
    uint32_t key;
} oc_verbs_destination_t;

/* As send of a transport. */
unsigned oc_verbs_source_send(oc_verbs_source_t *source, const oc_verbs_destination_t *to,
                              const oc_outgoing_t *datagrams, unsigned count);

/* Gets ready to sleep on wakeups until there is room. false: there is some now. */
bool oc_verbs_source_arm(oc_verbs_source_t *source);

/*
 * Takes wakeups. true: there may be room that a transport waits for, this one or another, and
 * nobody is to go to sleep.
 */
bool oc_verbs_source_heed(oc_verbs_source_t *source);

/* Whether all that was sent has left or is lost, when posted was as given. */
bool oc_verbs_source_has_sent(const oc_verbs_source_t *source, uint32_t posted);

/* Before a handle is destroyed: waits a moment until nothing is sent by it any more. */
void oc_verbs_source_drain(oc_verbs_source_t *source);

#endif
