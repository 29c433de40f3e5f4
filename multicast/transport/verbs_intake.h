/* SPDX-License-Identifier: BSD-3-Clause */
/* What arrives at one queue pair: its posted receives, the staging ring. For verbs.c only. */
#ifndef OC_MULTICAST_TRANSPORT_VERBS_INTAKE_H
#define OC_MULTICAST_TRANSPORT_VERBS_INTAKE_H

#include <infiniband/verbs.h>
#include <rdma/rdma_cma.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "multicast/transport/verbs_ring.h"

#define OC_VERBS_POLL_BATCH 32

typedef struct {
    struct rdma_cm_id *id;                      /* whose queue pair it is */
    struct ibv_pd *domain;
    struct ibv_comp_channel *wakeups;
    struct ibv_cq *queue;                       /* of completions */
    oc_verbs_ring_t ring;
    struct ibv_recv_wr *requests;               /* by slot */
    struct ibv_sge *pieces;
    struct ibv_wc arrivals[OC_VERBS_POLL_BATCH]; /* not handed out yet: next_arrival and on */
    int num_arrivals, next_arrival;
    struct ibv_recv_wr *used;                   /* receives to post again */
    unsigned num_used;
} oc_verbs_intake_t;

/*
 * Makes the queue pair of an identifier, which outlives it, with receives for datagrams of so many
 * bytes: as many as fit into staging, if the device can. Returns 0 or an errno, with what failed in
 * *what; oc_verbs_intake_free is to be called in any case.
 */
int oc_verbs_intake_make(oc_verbs_intake_t *intake, struct rdma_cm_id *id, size_t datagram_size,
                         size_t staging, const char **what);

/*
 * How many receives that will be, on a device. Returns 0 or an errno, with what failed in *what.
 */
int oc_verbs_intake_size(struct ibv_context *context, size_t datagram_size, size_t staging,
                         unsigned *slots, const char **what);

/* How many there are. */
static inline uint32_t oc_verbs_intake_slots(const oc_verbs_intake_t *intake)
{
    return intake->ring.slots;
}

/*
 * After the queue pair has failed: makes it work again, with all receives posted; what had arrived
 * and was not handed out is lost. Returns 0 or an errno; then it may be tried once more.
 */
int oc_verbs_intake_mend(oc_verbs_intake_t *intake);

/* Destroys the queue pair, too. Nothing happens if it was never made. */
void oc_verbs_intake_free(oc_verbs_intake_t *intake);

/* What has arrived and was not handed out. */
static inline bool oc_verbs_intake_has(const oc_verbs_intake_t *intake)
{
    return intake->next_arrival < intake->num_arrivals;
}

/* Only when all arrivals have been handed out. How many there are now; -1: the device fails. */
int oc_verbs_intake_poll(oc_verbs_intake_t *intake);

/* A slot whose datagram has been handed out: it is posted again with the next ones. */
void oc_verbs_intake_return(oc_verbs_intake_t *intake, unsigned slot);

/* Posts again what has been returned. Returns 0 or an errno. */
int oc_verbs_intake_repost(oc_verbs_intake_t *intake);

#endif
