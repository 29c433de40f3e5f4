/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Owns the receives of one UD queue pair. UD has no receiver-not-ready: what finds no posted
 * receive is lost, so receives are given back as soon as their datagrams have been handed out.
 */
#include "multicast/transport/verbs_intake.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>

#include "multicast/transport/verbs_origin.h"
#include "multicast/transport/verbs_pair.h"

#define MIN_RECEIVES 8u

int oc_verbs_intake_poll(oc_verbs_intake_t *intake)
{
    int count = ibv_poll_cq(intake->queue, OC_VERBS_POLL_BATCH, intake->arrivals);

    intake->next_arrival = 0;
    intake->num_arrivals = count < 0 ? 0 : count;
    return count < 0 ? -1 : count;
}

void oc_verbs_intake_return(oc_verbs_intake_t *intake, unsigned slot)
{
    struct ibv_recv_wr *request = &intake->requests[slot];

    request->next = intake->used;
    intake->used = request;
    intake->num_used++;
}

int oc_verbs_intake_repost(oc_verbs_intake_t *intake)
{
    struct ibv_recv_wr *first = intake->used, *bad;

    intake->used = NULL;
    intake->num_used = 0;
    return NULL == first ? 0 : ibv_post_recv(intake->id->qp, first, &bad);
}

/* ---- making and freeing ---- */

int oc_verbs_intake_size(struct ibv_context *context, size_t datagram_size, size_t staging,
                         unsigned *slots, const char **what)
{
    size_t wanted = staging / (OC_VERBS_GRH + datagram_size);
    struct ibv_device_attr device;
    size_t most;

    *what = "query the device";
    if (0 != ibv_query_device(context, &device)) {
        return 0 != errno ? errno : EIO;
    }
    most = (size_t) (device.max_qp_wr < device.max_cqe ? device.max_qp_wr : device.max_cqe);
    *what = "use a device with so short queues";
    if (most < MIN_RECEIVES) {
        return ENOSPC;
    }
    wanted = wanted < MIN_RECEIVES ? MIN_RECEIVES : wanted;
    *slots = (unsigned) (wanted < most ? wanted : most);
    return 0;
}

/* Nothing is sent by it; a queue pair has to have a queue for that, too. */
static int verbs_intake_make_queues(oc_verbs_intake_t *intake, unsigned receives,
                                    const char **what)
{
    struct rdma_cm_id *id = intake->id;
    struct ibv_qp_init_attr attributes = {
        .cap = {.max_send_wr = 1, .max_recv_wr = receives, .max_send_sge = 1, .max_recv_sge = 1},
        .qp_type = IBV_QPT_UD,
    };
    int failed;

    *what = "make queues";
    intake->domain = ibv_alloc_pd(id->verbs);
    if (NULL == intake->domain) {
        return errno;
    }
    failed = oc_verbs_make_wakeups(id->verbs, &intake->wakeups);
    if (0 != failed) {
        return failed;
    }
    intake->queue = ibv_create_cq(id->verbs, (int) receives, NULL, intake->wakeups, 0);
    if (NULL == intake->queue) {
        return errno;
    }
    attributes.send_cq = attributes.recv_cq = intake->queue;
    return 0 == rdma_create_qp(id, intake->domain, &attributes) ? 0 : errno;
}

static int make_requests(oc_verbs_intake_t *intake, size_t datagram_size, const char **what)
{
    const oc_verbs_ring_t *ring = &intake->ring;

    *what = "post receives";
    intake->requests = calloc(ring->slots, sizeof(*intake->requests));
    intake->pieces = calloc(ring->slots, sizeof(*intake->pieces));
    if (NULL == intake->requests || NULL == intake->pieces) {
        return ENOMEM;
    }
    for (unsigned slot = 0; slot < ring->slots; slot++) {
        intake->pieces[slot] = (struct ibv_sge) {
            .addr = (uintptr_t) (ring->memory + slot * ring->slot_size),
            .length = (uint32_t) (OC_VERBS_GRH + datagram_size),
            .lkey = ring->region->lkey,
        };
        intake->requests[slot] = (struct ibv_recv_wr) {
            .wr_id = slot,
            .sg_list = &intake->pieces[slot],
            .num_sge = 1,
        };
    }
    return 0;
}

/* While none is posted. */
static int post_all(oc_verbs_intake_t *intake)
{
    intake->used = NULL;
    intake->num_used = 0;
    for (unsigned slot = intake->ring.slots; slot > 0; slot--) {
        oc_verbs_intake_return(intake, slot - 1);
    }
    return oc_verbs_intake_repost(intake);
}

int oc_verbs_intake_make(oc_verbs_intake_t *intake, struct rdma_cm_id *id, size_t datagram_size,
                         size_t staging, const char **what)
{
    unsigned receives;
    int failed;

    intake->id = id;
    failed = oc_verbs_intake_size(intake->id->verbs, datagram_size, staging, &receives, what);
    if (0 == failed) {
        failed = verbs_intake_make_queues(intake, receives, what);
    }
    if (0 == failed) {
        failed = oc_verbs_ring_make(intake->domain, receives, OC_VERBS_GRH + datagram_size,
                                    &intake->ring, what);
    }
    if (0 == failed) {
        failed = make_requests(intake, datagram_size, what);
    }
    return 0 == failed ? post_all(intake) : failed;
}

int oc_verbs_intake_mend(oc_verbs_intake_t *intake)
{
    int failed = oc_verbs_pair_reset(intake->id);

    if (0 != failed) {
        return failed;
    }
    while (oc_verbs_intake_poll(intake) > 0) {
        /* receives of before, most of which the failure has brought back */
    }
    intake->num_arrivals = 0;
    failed = post_all(intake);
    return 0 == failed ? oc_verbs_pair_start(intake->id) : failed;
}

void oc_verbs_intake_free(oc_verbs_intake_t *intake)
{
    if (NULL != intake->id && NULL != intake->id->qp) {
        rdma_destroy_qp(intake->id);
    }
    if (NULL != intake->queue) {
        (void) oc_verbs_take_wakeups(intake->wakeups);
        (void) ibv_destroy_cq(intake->queue);
    }
    oc_verbs_ring_free(&intake->ring);
    if (NULL != intake->wakeups) {
        (void) ibv_destroy_comp_channel(intake->wakeups);
    }
    if (NULL != intake->domain) {
        (void) ibv_dealloc_pd(intake->domain);
    }
    free(intake->requests);
    free(intake->pieces);
}
