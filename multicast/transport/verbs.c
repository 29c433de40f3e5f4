/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Owns datagrams by libibverbs: one UD queue pair for each address with a ring of posted receives,
 * the staging ring. UD has no receiver-not-ready: what finds no posted receive is lost, so receives
 * are given back as soon as their datagrams have been handed out. What is sent goes through the
 * queue pair of the process (verbs_source.h).
 */
#include "multicast/transport/verbs.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>

#include "base/descriptors.h"
#include "base/log.h"
#include "multicast/transport/verbs_origin.h"
#include "multicast/transport/verbs_source.h"

/* What a device puts in front of a received datagram. The header behind it ends at byte 80. */
#define GRH_BYTES OC_VERBS_GRH

#define MIN_RECEIVES 8u
#define POLL_BATCH   32
#define REPOST_BATCH 32u

typedef struct {
    oc_transport_t base;
    oc_verbs_source_t *source;
    oc_verbs_port_t port;
    oc_verbs_destination_t group;
    struct ibv_pd *domain;
    struct ibv_comp_channel *wakeups;
    struct ibv_cq *queue;                       /* of completions */
    oc_verbs_ring_t ring;
    struct ibv_recv_wr *requests;               /* by slot */
    struct ibv_sge *pieces;
    struct ibv_wc arrivals[POLL_BATCH];         /* not handed out yet: next_arrival and on */
    int num_arrivals, next_arrival;
    struct ibv_recv_wr *used;                   /* receives to post again */
    unsigned num_used;
    int sleep_fd;                               /* epoll: these wakeups and the source's */
    bool failed;                                /* datagrams no longer get through */
} verbs_t;

static void verbs_fail(verbs_t *verbs, const char *what, const char *reason)
{
    if (!verbs->failed) {
        oc_warn("multicast on %s: %s (%s): what ranks send is asked for one by one from now on, "
                "which is slow", verbs->port.interface, what, reason);
    }
    verbs->failed = true;
}

static unsigned verbs_send(oc_transport_t *base, const oc_outgoing_t *datagrams, unsigned count)
{
    verbs_t *verbs = (verbs_t *) base;

    return oc_verbs_source_send(verbs->source, &verbs->group, datagrams, count);
}

/* ---- receiving ---- */

/* Posts again what has been handed out. */
static void repost(verbs_t *verbs)
{
    struct ibv_recv_wr *bad;
    int error;

    if (NULL == verbs->used) {
        return;
    }
    error = ibv_post_recv(verbs->port.id->qp, verbs->used, &bad);
    if (0 != error) {
        verbs_fail(verbs, "receives cannot be posted", strerror(error));
    }
    verbs->used = NULL;
    verbs->num_used = 0;
}

static void keep_for_repost(verbs_t *verbs, unsigned slot)
{
    struct ibv_recv_wr *request = &verbs->requests[slot];

    request->next = verbs->used;
    verbs->used = request;
    verbs->num_used++;
}

/* Only when all arrivals have been handed out. false: there is nothing. */
static bool poll_arrivals(verbs_t *verbs)
{
    verbs->next_arrival = 0;
    verbs->num_arrivals = ibv_poll_cq(verbs->queue, POLL_BATCH, verbs->arrivals);
    if (verbs->num_arrivals < 0) {
        verbs->num_arrivals = 0;
        verbs_fail(verbs, "completions of receives are lost", "device error");
    }
    return verbs->num_arrivals > 0;
}

/*
 * Hands out one datagram and returns how many that were. After a failure the device gives back all
 * receives; to post them again would only bring them back.
 */
static unsigned verbs_hand_out(verbs_t *verbs, const struct ibv_wc *arrival,
                               oc_arrival_fn_t *arrived, void *arg)
{
    unsigned slot = (unsigned) arrival->wr_id;
    unsigned count = 0;

    if (IBV_WC_SUCCESS != arrival->status) {
        verbs_fail(verbs, "receiving failed", ibv_wc_status_str(arrival->status));
        return 0;
    }
    if (arrival->byte_len >= GRH_BYTES) {
        const uint8_t *bytes = verbs->ring.memory + slot * verbs->ring.slot_size;
        oc_origin_t from = {.port = 0};

        /* without one, which multicast always has, those bytes are of an earlier datagram */
        if (0 != (arrival->wc_flags & IBV_WC_GRH)) {
            from = oc_verbs_origin(bytes, arrival->byte_len);
            from.port = arrival->src_qp;
        }
        arrived(arg, &from, bytes + GRH_BYTES, arrival->byte_len - GRH_BYTES);
        count = 1;
    }
    keep_for_repost(verbs, slot);
    return count;
}

static unsigned verbs_receive(oc_transport_t *base, unsigned max, oc_arrival_fn_t *arrived,
                              void *arg)
{
    verbs_t *verbs = (verbs_t *) base;
    unsigned count = 0;

    while (count < max
           && (verbs->next_arrival < verbs->num_arrivals || poll_arrivals(verbs))) {
        count += verbs_hand_out(verbs, &verbs->arrivals[verbs->next_arrival++], arrived, arg);
        if (verbs->num_used >= REPOST_BATCH) {
            repost(verbs);
        }
    }
    repost(verbs);
    return count;
}

/* ---- sleeping ---- */

/* A completion that came before the request for a wakeup causes none: hence the second look. */
static bool verbs_arm(oc_transport_t *base, bool sending)
{
    verbs_t *verbs = (verbs_t *) base;

    (void) oc_verbs_take_wakeups(verbs->wakeups);
    oc_verbs_port_heed(&verbs->port);
    if (oc_verbs_source_heed(verbs->source) || verbs->next_arrival < verbs->num_arrivals) {
        return false;
    }
    (void) ibv_req_notify_cq(verbs->queue, 0);
    if (poll_arrivals(verbs)) {
        return false;
    }
    return !sending || oc_verbs_source_arm(verbs->source);
}

/* ---- opening and closing ---- */

static void verbs_close(oc_transport_t *base)
{
    verbs_t *verbs = (verbs_t *) base;

    oc_verbs_port_leave(&verbs->port);
    if (NULL != verbs->port.id && NULL != verbs->port.id->qp) {
        rdma_destroy_qp(verbs->port.id);
    }
    if (NULL != verbs->group.handle) {
        oc_verbs_source_drain(verbs->source);
        (void) ibv_destroy_ah(verbs->group.handle);
    }
    if (NULL != verbs->queue) {
        (void) oc_verbs_take_wakeups(verbs->wakeups);
        (void) ibv_destroy_cq(verbs->queue);
    }
    oc_verbs_ring_free(&verbs->ring);
    if (verbs->sleep_fd >= 0) {
        oc_fd_close(verbs->sleep_fd);
    }
    if (NULL != verbs->wakeups) {
        (void) ibv_destroy_comp_channel(verbs->wakeups);
    }
    if (NULL != verbs->domain) {
        (void) ibv_dealloc_pd(verbs->domain);
    }
    oc_verbs_port_close(&verbs->port);
    free(verbs->requests);
    free(verbs->pieces);
    free(verbs);
}

static const oc_transport_ops_t verbs_ops = {
    .name = "verbs",
    .send = verbs_send,
    .receive = verbs_receive,
    .arm = verbs_arm,
    .close = verbs_close,
};

/* Everything below returns 0 or an errno, with what failed in *what. */

/* How many datagrams the staging ring holds: as configured, if the device can. */
static int size_receives(const oc_verbs_port_t *port, size_t staging, unsigned *slots,
                         const char **what)
{
    size_t wanted = staging / (GRH_BYTES + port->mtu);
    struct ibv_device_attr device;
    size_t most;

    *what = "query the device";
    if (0 != ibv_query_device(port->id->verbs, &device)) {
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

static int verbs_watch(const verbs_t *verbs, int fd)
{
    struct epoll_event event = {.events = EPOLLIN};

    return 0 == epoll_ctl(verbs->sleep_fd, EPOLL_CTL_ADD, fd, &event) ? 0 : errno;
}

/*
 * One descriptor for what arrives and for room to send. A wakeup that another transport of this
 * process has asked the source for is one for nothing here.
 */
static int make_wakeups(verbs_t *verbs)
{
    int failed = oc_verbs_make_wakeups(verbs->port.id->verbs, &verbs->wakeups);

    verbs->sleep_fd = 0 == failed ? oc_fd_make(epoll_create1(EPOLL_CLOEXEC)) : -1;
    if (0 == failed && verbs->sleep_fd < 0) {
        failed = errno;
    }
    if (0 == failed) {
        failed = verbs_watch(verbs, verbs->wakeups->fd);
    }
    return 0 == failed ? verbs_watch(verbs, verbs->source->wakeups->fd) : failed;
}

/* Nothing is sent by it; a queue pair has to have a queue for that, too. */
static int verbs_make_queues(verbs_t *verbs, unsigned receives, const char **what)
{
    struct rdma_cm_id *id = verbs->port.id;
    struct ibv_qp_init_attr attributes = {
        .cap = {.max_send_wr = 1, .max_recv_wr = receives, .max_send_sge = 1, .max_recv_sge = 1},
        .qp_type = IBV_QPT_UD,
    };
    int failed;

    *what = "make queues";
    verbs->domain = ibv_alloc_pd(id->verbs);
    if (NULL == verbs->domain) {
        return errno;
    }
    failed = make_wakeups(verbs);
    if (0 != failed) {
        return failed;
    }
    verbs->queue = ibv_create_cq(id->verbs, (int) receives, NULL, verbs->wakeups, 0);
    if (NULL == verbs->queue) {
        return errno;
    }
    attributes.send_cq = attributes.recv_cq = verbs->queue;
    return 0 == rdma_create_qp(id, verbs->domain, &attributes) ? 0 : errno;
}

static int post_receives(verbs_t *verbs, const char **what)
{
    oc_verbs_ring_t *ring = &verbs->ring;
    struct ibv_recv_wr *bad;

    *what = "post receives";
    verbs->requests = calloc(ring->slots, sizeof(*verbs->requests));
    verbs->pieces = calloc(ring->slots, sizeof(*verbs->pieces));
    if (NULL == verbs->requests || NULL == verbs->pieces) {
        return ENOMEM;
    }
    for (unsigned slot = 0; slot < ring->slots; slot++) {
        verbs->pieces[slot] = (struct ibv_sge) {
            .addr = (uintptr_t) (ring->memory + slot * ring->slot_size),
            .length = (uint32_t) (GRH_BYTES + verbs->base.datagram_size),
            .lkey = ring->region->lkey,
        };
        verbs->requests[slot] = (struct ibv_recv_wr) {
            .wr_id = slot,
            .next = slot + 1 < ring->slots ? &verbs->requests[slot + 1] : NULL,
            .sg_list = &verbs->pieces[slot],
            .num_sge = 1,
        };
    }
    return ibv_post_recv(verbs->port.id->qp, verbs->requests, &bad);
}

static oc_status_t verbs_make_resources(verbs_t *verbs, size_t staging, char *error,
                                        size_t error_size)
{
    const char *what;
    unsigned receives;
    char text[128];
    int failed = size_receives(&verbs->port, staging, &receives, &what);

    if (0 == failed) {
        failed = verbs_make_queues(verbs, receives, &what);
    }
    if (0 == failed) {
        failed = oc_verbs_ring_make(verbs->domain, receives, GRH_BYTES + verbs->base.datagram_size,
                                    &verbs->ring, &what);
    }
    if (0 == failed) {
        failed = post_receives(verbs, &what);
    }
    if (0 == failed) {
        verbs->base.staging = receives;
        return OC_OK;
    }
    oc_verbs_port_text(&verbs->port, text, sizeof(text));
    snprintf(error, error_size, "%s: cannot %s (%s)", text, what, strerror(failed));
    return ENOMEM == failed ? OC_ERR_NO_MEMORY : OC_ERR_SYSTEM;
}

static oc_status_t join(verbs_t *verbs, struct in_addr address, char *error, size_t error_size)
{
    struct rdma_ud_param destination;
    oc_status_t status;

    status = oc_verbs_port_join(&verbs->port, address, &destination, error, error_size);
    if (OC_OK != status) {
        return status;
    }
    verbs->group.key = destination.qkey;
    verbs->group.handle = ibv_create_ah(verbs->source->domain, &destination.ah_attr);
    if (NULL == verbs->group.handle) {
        snprintf(error, error_size, "%s: cannot make an address handle (%s)",
                 verbs->port.interface, strerror(errno));
        return OC_ERR_SYSTEM;
    }
    return OC_OK;
}

/* What others know this process by does not change. */
static oc_status_t compare_ports(const verbs_t *verbs, char *error, size_t error_size)
{
    oc_origin_t here = oc_verbs_port_origin(&verbs->port);
    oc_origin_t there = oc_verbs_port_origin(&verbs->source->port);
    char old[128], new[128];

    if (verbs->port.id->verbs == verbs->source->port.id->verbs
        && 0 == memcmp(&here, &there, sizeof(here))) {
        return OC_OK;
    }
    oc_verbs_port_text(&verbs->source->port, old, sizeof(old));
    oc_verbs_port_text(&verbs->port, new, sizeof(new));
    snprintf(error, error_size, "multicast is by %s now, and this process began with %s", new, old);
    return OC_ERR_SYSTEM;
}

oc_status_t oc_verbs_open(const oc_verbs_config_t *config, oc_transport_t **transport, char *error,
                          size_t error_size)
{
    verbs_t *verbs = calloc(1, sizeof(*verbs));
    oc_status_t status;

    if (NULL == verbs) {
        snprintf(error, error_size, "out of memory");
        return OC_ERR_NO_MEMORY;
    }
    verbs->sleep_fd = -1;
    verbs->source = config->source;
    status = oc_verbs_port_open(config->interface, &verbs->port, error, error_size);
    if (OC_OK == status) {
        status = compare_ports(verbs, error, error_size);
    }
    if (OC_OK == status) {
        verbs->base.datagram_size = verbs->port.mtu;
        status = verbs_make_resources(verbs, config->staging, error, error_size);
    }
    if (OC_OK == status) {
        status = join(verbs, config->address, error, error_size);
    }
    if (OC_OK != status) {
        verbs_close(&verbs->base);
        return status;
    }
    verbs->base.ops = &verbs_ops;
    verbs->base.event_fd = verbs->sleep_fd;
    verbs->base.events = POLLIN;
    *transport = &verbs->base;
    return OC_OK;
}

uint32_t oc_verbs_staging(const oc_verbs_source_t *source, size_t bytes)
{
    unsigned receives;
    const char *what;

    return 0 == size_receives(&source->port, bytes, &receives, &what) ? receives : 0;
}

bool oc_verbs_available(const char *interface, size_t *datagram_size, char *text,
                        size_t text_size)
{
    oc_verbs_port_t port;

    if (OC_OK != oc_verbs_port_open(interface, &port, text, text_size)) {
        return false;
    }
    oc_verbs_port_text(&port, text, text_size);
    *datagram_size = port.mtu;
    oc_verbs_port_close(&port);
    return true;
}
