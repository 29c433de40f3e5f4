/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Owns datagrams by libibverbs: one UD queue pair with a ring of posted receives, the staging
 * ring, and a ring of slots to send from. UD has no receiver-not-ready: what finds no posted
 * receive is lost, so receives are given back as soon as their datagrams have been handed out.
 *
 * The last send of a batch alone is signalled, and its completion frees the slots of all before.
 */
#include "multicast/verbs.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "multicast/verbs_origin.h"
#include "multicast/verbs_port.h"

/* What a device puts in front of a received datagram. The header behind it ends at byte 80. */
#define GRH_BYTES OC_VERBS_GRH

#define CACHE_LINE   64
#define PAGE         4096
#define SEND_SLOTS   256u  /* a power of two, and some batches */
#define MIN_RECEIVES 8u
#define POLL_BATCH   32
#define REPOST_BATCH 32u

/* The network's name for everyone in a group. */
#define MULTICAST_QPN 0xffffffu

/* At most one wakeup for each completion queue and arm is to be expected. */
#define MAX_WAKEUPS 16

/* Equal slots of registered memory. */
typedef struct {
    uint8_t *memory;
    struct ibv_mr *region;
    size_t slot_size;
    unsigned slots;
} ring_t;

typedef struct {
    oc_transport_t base;
    oc_verbs_port_t port;
    struct ibv_pd *domain;
    struct ibv_comp_channel *wakeups;
    struct ibv_cq *send_queue, *receive_queue;  /* of completions */
    struct ibv_ah *address;                     /* of the group */
    ring_t sends, receives;
    struct ibv_send_wr send_requests[SEND_SLOTS];
    struct ibv_sge send_pieces[SEND_SLOTS];
    struct ibv_recv_wr *receive_requests;       /* by slot */
    struct ibv_sge *receive_pieces;
    uint32_t posted, sent;                      /* datagrams, modulo 2^32 */
    struct ibv_wc arrivals[POLL_BATCH];         /* not handed out yet: next_arrival and on */
    int num_arrivals, next_arrival;
    struct ibv_recv_wr *used;                   /* receives to post again */
    unsigned num_used;
    bool failed;                                /* datagrams no longer get through */
} verbs_t;

static void fail(verbs_t *verbs, const char *what, const char *reason)
{
    if (!verbs->failed) {
        oc_warn("multicast on %s: %s (%s): what ranks send is asked for one by one from now on, "
                "which is slow", verbs->port.interface, what, reason);
    }
    verbs->failed = true;
}

/* ---- sending ---- */

static unsigned room(const verbs_t *verbs)
{
    return verbs->sends.slots - (verbs->posted - verbs->sent);
}

static void reclaim(verbs_t *verbs)
{
    struct ibv_wc done[POLL_BATCH];
    int count;

    do {
        count = ibv_poll_cq(verbs->send_queue, POLL_BATCH, done);
        for (int i = 0; i < count; i++) {
            verbs->sent = (uint32_t) done[i].wr_id;
            if (IBV_WC_SUCCESS != done[i].status) {
                fail(verbs, "sending failed", ibv_wc_status_str(done[i].status));
            }
        }
    } while (POLL_BATCH == count);
    if (count < 0) {
        fail(verbs, "completions of sends are lost", "device error");
    }
}

/* Fills the slot after those that are posted. */
static struct ibv_send_wr *prepare_send(verbs_t *verbs, const oc_outgoing_t *datagram)
{
    unsigned slot = verbs->posted % SEND_SLOTS;
    uint8_t *bytes = verbs->sends.memory + slot * verbs->sends.slot_size;

    memcpy(bytes, datagram->header, OC_DATAGRAM_HEADER);
    if (datagram->length > 0) {
        memcpy(bytes + OC_DATAGRAM_HEADER, datagram->payload, datagram->length);
    }
    verbs->send_pieces[slot].length = (uint32_t) (OC_DATAGRAM_HEADER + datagram->length);
    verbs->posted++;
    return &verbs->send_requests[slot];
}

static void post_sends(verbs_t *verbs, const oc_outgoing_t *datagrams, unsigned count)
{
    struct ibv_send_wr *first = NULL, **end = &first, *last = NULL, *bad;
    int error;

    for (unsigned i = 0; i < count; i++) {
        last = prepare_send(verbs, &datagrams[i]);
        last->send_flags = 0;
        *end = last;
        end = &last->next;
    }
    last->next = NULL;
    last->send_flags = IBV_SEND_SIGNALED;
    last->wr_id = verbs->posted;
    error = ibv_post_send(verbs->port.id->qp, first, &bad);
    if (0 != error) {
        fail(verbs, "sends cannot be posted", strerror(error));
    }
}

static unsigned verbs_send(oc_transport_t *base, const oc_outgoing_t *datagrams, unsigned count)
{
    verbs_t *verbs = (verbs_t *) base;

    if (room(verbs) < count) {
        reclaim(verbs);
    }
    if (verbs->failed) {
        return count;
    }
    if (room(verbs) < count) {
        count = room(verbs);
    }
    if (count > 0) {
        post_sends(verbs, datagrams, count);
    }
    return count;
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
        fail(verbs, "receives cannot be posted", strerror(error));
    }
    verbs->used = NULL;
    verbs->num_used = 0;
}

static void keep_for_repost(verbs_t *verbs, unsigned slot)
{
    struct ibv_recv_wr *request = &verbs->receive_requests[slot];

    request->next = verbs->used;
    verbs->used = request;
    verbs->num_used++;
}

/* Only when all arrivals have been handed out. false: there is nothing. */
static bool poll_arrivals(verbs_t *verbs)
{
    verbs->next_arrival = 0;
    verbs->num_arrivals = ibv_poll_cq(verbs->receive_queue, POLL_BATCH, verbs->arrivals);
    if (verbs->num_arrivals < 0) {
        verbs->num_arrivals = 0;
        fail(verbs, "completions of receives are lost", "device error");
    }
    return verbs->num_arrivals > 0;
}

/*
 * Hands out one datagram and returns how many that were. After a failure the device gives back all
 * receives; to post them again would only bring them back.
 */
static unsigned hand_out(verbs_t *verbs, const struct ibv_wc *arrival, oc_arrival_fn_t *arrived,
                         void *arg)
{
    unsigned slot = (unsigned) arrival->wr_id;
    unsigned count = 0;

    if (IBV_WC_SUCCESS != arrival->status) {
        fail(verbs, "receiving failed", ibv_wc_status_str(arrival->status));
        return 0;
    }
    if (arrival->byte_len >= GRH_BYTES) {
        const uint8_t *bytes = verbs->receives.memory + slot * verbs->receives.slot_size;
        oc_origin_t from = oc_verbs_origin(bytes, arrival->byte_len);

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
        count += hand_out(verbs, &verbs->arrivals[verbs->next_arrival++], arrived, arg);
        if (verbs->num_used >= REPOST_BATCH) {
            repost(verbs);
        }
    }
    repost(verbs);
    return count;
}

/* ---- sleeping ---- */

/* Each wakeup has to be acknowledged, or its completion queue could never be destroyed. */
static void take_wakeups(verbs_t *verbs)
{
    struct ibv_cq *queue;
    void *context;

    for (int i = 0; i < MAX_WAKEUPS && 0 == ibv_get_cq_event(verbs->wakeups, &queue, &context);
         i++) {
        ibv_ack_cq_events(queue, 1);
    }
}

/* A completion that came before the request for a wakeup causes none: hence the second look. */
static bool verbs_arm(oc_transport_t *base, bool sending)
{
    verbs_t *verbs = (verbs_t *) base;

    take_wakeups(verbs);
    oc_verbs_port_heed(&verbs->port);
    if (verbs->next_arrival < verbs->num_arrivals) {
        return false;
    }
    (void) ibv_req_notify_cq(verbs->receive_queue, 0);
    if (poll_arrivals(verbs)) {
        return false;
    }
    if (sending) {
        (void) ibv_req_notify_cq(verbs->send_queue, 0);
        reclaim(verbs);
    }
    return !sending || (0 == room(verbs) && !verbs->failed);
}

/* ---- opening and closing ---- */

static void ring_free(ring_t *ring)
{
    if (NULL != ring->region) {
        (void) ibv_dereg_mr(ring->region);
    }
    free(ring->memory);
}

static void verbs_close(oc_transport_t *base)
{
    verbs_t *verbs = (verbs_t *) base;

    oc_verbs_port_leave(&verbs->port);
    if (NULL != verbs->port.id && NULL != verbs->port.id->qp) {
        rdma_destroy_qp(verbs->port.id);
    }
    if (NULL != verbs->address) {
        (void) ibv_destroy_ah(verbs->address);
    }
    if (NULL != verbs->wakeups) {
        take_wakeups(verbs);
    }
    if (NULL != verbs->send_queue) {
        (void) ibv_destroy_cq(verbs->send_queue);
    }
    if (NULL != verbs->receive_queue) {
        (void) ibv_destroy_cq(verbs->receive_queue);
    }
    ring_free(&verbs->sends);
    ring_free(&verbs->receives);
    if (NULL != verbs->wakeups) {
        (void) ibv_destroy_comp_channel(verbs->wakeups);
    }
    if (NULL != verbs->domain) {
        (void) ibv_dealloc_pd(verbs->domain);
    }
    oc_verbs_port_close(&verbs->port);
    free(verbs->receive_requests);
    free(verbs->receive_pieces);
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

static int ring_make(verbs_t *verbs, ring_t *ring, unsigned slots, size_t bytes, const char **what)
{
    size_t size;

    *what = "register memory for datagrams, which a higher limit of locked memory (ulimit -l) or "
            "a smaller coll_optcast_multicast_staging may allow";
    ring->slots = slots;
    ring->slot_size = (bytes + CACHE_LINE - 1) / CACHE_LINE * CACHE_LINE;
    size = (slots * ring->slot_size + PAGE - 1) / PAGE * PAGE;
    ring->memory = aligned_alloc(PAGE, size);
    if (NULL == ring->memory) {
        return ENOMEM;
    }
    memset(ring->memory, 0, size);
    ring->region = ibv_reg_mr(verbs->domain, ring->memory, size, IBV_ACCESS_LOCAL_WRITE);
    return NULL == ring->region ? errno : 0;
}

/* How many datagrams the staging ring holds: as configured, if the device can. */
static int size_receives(const verbs_t *verbs, size_t staging, unsigned *slots, const char **what)
{
    size_t wanted = staging / (GRH_BYTES + verbs->base.datagram_size);
    struct ibv_device_attr device;
    size_t most;

    *what = "query the device";
    if (0 != ibv_query_device(verbs->port.id->verbs, &device)) {
        return 0 != errno ? errno : EIO;
    }
    most = (size_t) (device.max_qp_wr < device.max_cqe ? device.max_qp_wr : device.max_cqe);
    *what = "use a device with so short queues";
    if (most < SEND_SLOTS) {
        return ENOSPC;
    }
    wanted = wanted < MIN_RECEIVES ? MIN_RECEIVES : wanted;
    *slots = (unsigned) (wanted < most ? wanted : most);
    return 0;
}

/* Completion queues of their own: room to send is found without touching what has arrived. */
static int make_queues(verbs_t *verbs, unsigned receives, const char **what)
{
    struct rdma_cm_id *id = verbs->port.id;
    struct ibv_qp_init_attr attributes = {
        .cap = {.max_send_wr = SEND_SLOTS, .max_recv_wr = receives, .max_send_sge = 1,
                .max_recv_sge = 1},
        .qp_type = IBV_QPT_UD,
    };

    *what = "make queues";
    verbs->domain = ibv_alloc_pd(id->verbs);
    verbs->wakeups = ibv_create_comp_channel(id->verbs);
    if (NULL == verbs->domain || NULL == verbs->wakeups
        || 0 != fcntl(verbs->wakeups->fd, F_SETFL, O_NONBLOCK)) {
        return errno;
    }
    verbs->send_queue = ibv_create_cq(id->verbs, SEND_SLOTS, NULL, verbs->wakeups, 0);
    if (NULL == verbs->send_queue) {
        return errno;
    }
    verbs->receive_queue = ibv_create_cq(id->verbs, (int) receives, NULL, verbs->wakeups, 0);
    if (NULL == verbs->receive_queue) {
        return errno;
    }
    attributes.send_cq = verbs->send_queue;
    attributes.recv_cq = verbs->receive_queue;
    return 0 == rdma_create_qp(id, verbs->domain, &attributes) ? 0 : errno;
}

static int post_receives(verbs_t *verbs, const char **what)
{
    ring_t *ring = &verbs->receives;
    struct ibv_recv_wr *bad;

    *what = "post receives";
    verbs->receive_requests = calloc(ring->slots, sizeof(*verbs->receive_requests));
    verbs->receive_pieces = calloc(ring->slots, sizeof(*verbs->receive_pieces));
    if (NULL == verbs->receive_requests || NULL == verbs->receive_pieces) {
        return ENOMEM;
    }
    for (unsigned slot = 0; slot < ring->slots; slot++) {
        verbs->receive_pieces[slot] = (struct ibv_sge) {
            .addr = (uintptr_t) (ring->memory + slot * ring->slot_size),
            .length = (uint32_t) (GRH_BYTES + verbs->base.datagram_size),
            .lkey = ring->region->lkey,
        };
        verbs->receive_requests[slot] = (struct ibv_recv_wr) {
            .wr_id = slot,
            .next = slot + 1 < ring->slots ? &verbs->receive_requests[slot + 1] : NULL,
            .sg_list = &verbs->receive_pieces[slot],
            .num_sge = 1,
        };
    }
    return ibv_post_recv(verbs->port.id->qp, verbs->receive_requests, &bad);
}

/* What all datagrams have in common when they are sent. */
static void prepare_sends(verbs_t *verbs, const struct rdma_ud_param *destination)
{
    for (unsigned slot = 0; slot < SEND_SLOTS; slot++) {
        verbs->send_pieces[slot] = (struct ibv_sge) {
            .addr = (uintptr_t) (verbs->sends.memory + slot * verbs->sends.slot_size),
            .lkey = verbs->sends.region->lkey,
        };
        verbs->send_requests[slot] = (struct ibv_send_wr) {
            .sg_list = &verbs->send_pieces[slot],
            .num_sge = 1,
            .opcode = IBV_WR_SEND,
            .wr.ud = {.ah = verbs->address, .remote_qpn = MULTICAST_QPN,
                      .remote_qkey = destination->qkey},
        };
    }
}

static oc_status_t make_resources(verbs_t *verbs, size_t staging, char *error, size_t error_size)
{
    const char *what;
    unsigned receives;
    char text[128];
    int failed = size_receives(verbs, staging, &receives, &what);

    if (0 == failed) {
        failed = make_queues(verbs, receives, &what);
    }
    if (0 == failed) {
        failed = ring_make(verbs, &verbs->sends, SEND_SLOTS, verbs->base.datagram_size, &what);
    }
    if (0 == failed) {
        failed = ring_make(verbs, &verbs->receives, receives,
                           GRH_BYTES + verbs->base.datagram_size, &what);
    }
    if (0 == failed) {
        failed = post_receives(verbs, &what);
    }
    if (0 == failed) {
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
    verbs->address = ibv_create_ah(verbs->domain, &destination.ah_attr);
    if (NULL == verbs->address) {
        snprintf(error, error_size, "%s: cannot make an address handle (%s)",
                 verbs->port.interface, strerror(errno));
        return OC_ERR_SYSTEM;
    }
    prepare_sends(verbs, &destination);
    return OC_OK;
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
    status = oc_verbs_port_open(config->interface, &verbs->port, error, error_size);
    if (OC_OK == status) {
        verbs->base.datagram_size = verbs->port.mtu;
        status = make_resources(verbs, config->staging, error, error_size);
    }
    if (OC_OK == status) {
        status = join(verbs, config->address, error, error_size);
    }
    if (OC_OK != status) {
        verbs_close(&verbs->base);
        return status;
    }
    verbs->base.ops = &verbs_ops;
    verbs->base.event_fd = verbs->wakeups->fd;
    verbs->base.events = POLLIN;
    *transport = &verbs->base;
    return OC_OK;
}

bool oc_verbs_available(const char *interface, size_t *datagram_size, oc_origin_t *origin,
                        char *text, size_t text_size)
{
    oc_verbs_port_t port;

    if (OC_OK != oc_verbs_port_open(interface, &port, text, text_size)) {
        return false;
    }
    oc_verbs_port_text(&port, text, text_size);
    *datagram_size = port.mtu;
    *origin = oc_verbs_port_origin(&port);
    oc_verbs_port_close(&port);
    return true;
}
