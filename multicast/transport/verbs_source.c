/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Owns one UD queue pair that only sends, and a ring of slots to send from. The last send of a
 * batch alone is signalled, and its completion frees the slots of all before.
 */
#include "multicast/transport/verbs_source.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "multicast/transport/verbs_pair.h"

#define POLL_BATCH 32

/* Between a failure and the attempt to mend it; then twice as long each time, if it fails again. */
#define FIRST_PAUSE (100 * OC_MILLISECOND)
#define MAX_PAUSE   (10 * OC_SECOND)

/* A queue pair that has worked so long was all right: what comes then is a failure of its own. */
#define LASTING (10 * OC_SECOND)

/* The network's name for everyone in a group. */
#define MULTICAST_QPN 0xffffffu

/* Full queues of the slowest links are empty by then. */
#define DRAIN_TIME (200 * OC_MILLISECOND)

static oc_verbs_source_t *verbs_source_of(oc_verbs_watcher_t *watcher)
{
    return (oc_verbs_source_t *) ((char *) watcher - offsetof(oc_verbs_source_t, watcher));
}

/* ---- failures ---- */

/* It is tried again when it is due, less and less often. */
static void put_off(oc_verbs_source_t *source, uint64_t now)
{
    source->watcher.due = now + source->pause;
    source->pause = 2 * source->pause < MAX_PAUSE ? 2 * source->pause : MAX_PAUSE;
    oc_verbs_watch_hurry(&source->watch, source->watcher.due);
}

static void verbs_source_fail(oc_verbs_source_t *source, const char *what, const char *reason)
{
    uint64_t now = oc_clock_ns();

    if (source->failed) {
        return;
    }
    source->failed = true;
    if (now - source->mended >= LASTING) {
        source->pause = FIRST_PAUSE;
    }
    oc_warn("multicast on %s: %s (%s): what this rank sends is asked for one by one until it can "
            "send again, which is slow", source->port.interface, what, reason);
    put_off(source, now);
}

/* It will not be mended. */
static void verbs_source_end(oc_verbs_source_t *source, const char *reason)
{
    if (!source->ended) {
        oc_warn("multicast on %s: sending has ended (%s): what this rank sends is asked for one by "
                "one from now on, which is slow", source->port.interface, reason);
    }
    source->failed = source->ended = true;
    source->watcher.due = UINT64_MAX;
}

/* ---- sending ---- */

static unsigned room(const oc_verbs_source_t *source)
{
    return source->ring.slots - (source->posted - source->sent);
}

static void reclaim(oc_verbs_source_t *source)
{
    struct ibv_wc done[POLL_BATCH];
    int count;

    do {
        count = ibv_poll_cq(source->queue, POLL_BATCH, done);
        for (int i = 0; i < count; i++) {
            if (IBV_WC_SUCCESS == done[i].status) {
                source->sent = (uint32_t) done[i].wr_id;
            } else { /* which may be of any send, not only of the last of a batch */
                verbs_source_fail(source, "sending failed", ibv_wc_status_str(done[i].status));
            }
        }
    } while (POLL_BATCH == count);
    if (count < 0) {
        verbs_source_end(source, "completions of sends are lost");
    }
}

/* Fills the slot after those that are posted. */
static struct ibv_send_wr *verbs_source_prepare(oc_verbs_source_t *source,
                                                const oc_verbs_destination_t *to,
                                                const oc_outgoing_t *datagram)
{
    unsigned slot = source->posted % OC_VERBS_SEND_SLOTS;
    uint8_t *bytes = source->ring.memory + slot * source->ring.slot_size;

    memcpy(bytes, datagram->header, OC_DATAGRAM_HEADER);
    if (datagram->length > 0) {
        memcpy(bytes + OC_DATAGRAM_HEADER, datagram->payload, datagram->length);
    }
    source->pieces[slot] = (struct ibv_sge) {
        .addr = (uintptr_t) bytes,
        .length = (uint32_t) (OC_DATAGRAM_HEADER + datagram->length),
        .lkey = source->ring.region->lkey,
    };
    source->requests[slot] = (struct ibv_send_wr) {
        .sg_list = &source->pieces[slot],
        .num_sge = 1,
        .opcode = IBV_WR_SEND,
        .wr.ud = {.ah = to->handle, .remote_qpn = MULTICAST_QPN, .remote_qkey = to->key},
    };
    source->posted++;
    return &source->requests[slot];
}

static void verbs_source_post(oc_verbs_source_t *source, const oc_verbs_destination_t *to,
                              const oc_outgoing_t *datagrams, unsigned count)
{
    struct ibv_send_wr *first = NULL, **end = &first, *last = NULL, *bad;
    int error;

    for (unsigned i = 0; i < count; i++) {
        last = verbs_source_prepare(source, to, &datagrams[i]);
        *end = last;
        end = &last->next;
    }
    last->send_flags = IBV_SEND_SIGNALED;
    last->wr_id = source->posted;
    error = ibv_post_send(source->port.id->qp, first, &bad);
    if (0 != error) {
        verbs_source_fail(source, "sends cannot be posted", strerror(error));
    }
}

unsigned oc_verbs_source_send(oc_verbs_source_t *source, const oc_verbs_destination_t *to,
                              const oc_outgoing_t *datagrams, unsigned count)
{
    /* also if there is room: what has failed is to be known before all slots are full of it */
    reclaim(source);
    if (source->failed) {
        return count;
    }
    if (room(source) < count) {
        count = room(source);
    }
    if (count > 0) {
        verbs_source_post(source, to, datagrams, count);
    }
    return count;
}

/* A completion that came before the request for a wakeup causes none: hence the second look. */
bool oc_verbs_source_arm(oc_verbs_source_t *source)
{
    (void) ibv_req_notify_cq(source->queue, 0);
    reclaim(source);
    source->awaited = 0 == room(source) && !source->failed;
    return source->awaited;
}

bool oc_verbs_source_heed(oc_verbs_source_t *source)
{
    bool due = oc_verbs_take_wakeups(source->wakeups) && source->awaited;

    source->awaited = source->awaited && !due;
    return due;
}

bool oc_verbs_source_has_sent(const oc_verbs_source_t *source, uint32_t posted)
{
    return (int32_t) (source->sent - posted) >= 0;
}

void oc_verbs_source_drain(oc_verbs_source_t *source)
{
    uint64_t end = oc_clock_ns() + DRAIN_TIME;

    do {
        reclaim(source);
    } while (source->sent != source->posted && !source->failed && oc_clock_ns() < end);
}

/* ---- what happens to it ---- */

static void verbs_source_heed_port(oc_verbs_watcher_t *watcher)
{
    oc_verbs_source_t *source = verbs_source_of(watcher);
    struct rdma_ud_param unused;
    char text[64];
    oc_port_news_t news;

    do {
        news = oc_verbs_port_next(&source->port, &unused, text, sizeof(text));
        if (OC_PORT_GONE == news) {
            verbs_source_end(source, text);
        }
    } while (OC_PORT_NOTHING != news);
}

static void verbs_source_happened(oc_verbs_watcher_t *watcher, const struct ibv_async_event *event)
{
    oc_verbs_source_t *source = verbs_source_of(watcher);
    const char *text = ibv_event_type_str(event->event_type);
    oc_port_news_t news = oc_verbs_port_happened(&source->port, event, -1);

    if (IBV_EVENT_QP_FATAL == event->event_type && event->element.qp == source->port.id->qp) {
        verbs_source_fail(source, "its queue pair has failed", text);
    } else if (OC_PORT_GONE == news
               || (IBV_EVENT_CQ_ERR == event->event_type
                   && event->element.cq == source->queue)) {
        verbs_source_end(source, text);
    } else if (OC_PORT_CHANGED == news && source->failed && !source->ended) {
        watcher->due = 0; /* the port may be up again */
    }
}

/* What was posted and has not left is lost. Returns 0 or an errno. */
static int mend(oc_verbs_source_t *source)
{
    int failed = oc_verbs_port_is_active(&source->port) ? 0 : ENETDOWN;

    if (0 == failed) {
        failed = oc_verbs_pair_reset(source->port.id);
    }
    if (0 == failed) {
        reclaim(source); /* what it said before */
        source->sent = source->posted;
        failed = oc_verbs_pair_start(source->port.id);
    }
    return failed;
}

static void verbs_source_step(oc_verbs_watcher_t *watcher, uint64_t now)
{
    oc_verbs_source_t *source = verbs_source_of(watcher);
    int failed = mend(source);

    if (source->ended) {
        return;
    }
    if (0 != failed) {
        oc_debug("multicast on %s: it cannot send yet (%s)", source->port.interface,
                 strerror(failed));
        put_off(source, now);
        return;
    }
    oc_warn("multicast on %s: this rank can send again", source->port.interface);
    source->failed = false;
    source->mended = now;
    watcher->due = UINT64_MAX;
}

/* ---- opening and closing ---- */

/*
 * Nothing is received here; a queue pair has to have a queue for that, too. Returns 0 or an errno.
 */
static int verbs_source_make_queues(oc_verbs_source_t *source, const char **what)
{
    struct rdma_cm_id *id = source->port.id;
    struct ibv_qp_init_attr attributes = {
        .cap = {.max_send_wr = OC_VERBS_SEND_SLOTS, .max_recv_wr = 1, .max_send_sge = 1,
                .max_recv_sge = 1},
        .qp_type = IBV_QPT_UD,
    };
    int failed;

    *what = "make queues to send from";
    source->domain = ibv_alloc_pd(id->verbs);
    if (NULL == source->domain) {
        return errno;
    }
    failed = oc_verbs_make_wakeups(id->verbs, &source->wakeups);
    if (0 != failed) {
        return failed;
    }
    source->queue = ibv_create_cq(id->verbs, OC_VERBS_SEND_SLOTS, NULL, source->wakeups, 0);
    if (NULL == source->queue) {
        return errno;
    }
    attributes.send_cq = attributes.recv_cq = source->queue;
    return 0 == rdma_create_qp(id, source->domain, &attributes) ? 0 : errno;
}

/* Returns 0 or an errno. */
static int watch_source(oc_verbs_source_t *source, const char **what)
{
    int failed;

    *what = "watch what happens to it";
    source->watcher = (oc_verbs_watcher_t) {.heed = verbs_source_heed_port,
                                            .happened = verbs_source_happened,
                                            .step = verbs_source_step, .due = UINT64_MAX};
    failed = oc_verbs_watch_open(&source->watch, source->port.id->verbs);
    if (0 == failed) {
        failed = oc_verbs_watch_add(&source->watch, &source->watcher, source->port.events->fd);
    }
    return failed;
}

static oc_status_t verbs_source_make_resources(oc_verbs_source_t *source, char *text,
                                               size_t text_size)
{
    const char *what;
    char port[128];
    int failed = verbs_source_make_queues(source, &what);

    if (0 == failed) {
        failed = oc_verbs_ring_make(source->domain, OC_VERBS_SEND_SLOTS, source->port.mtu,
                                    &source->ring, &what);
    }
    if (0 == failed) {
        failed = watch_source(source, &what);
    }
    oc_verbs_port_text(&source->port, port, sizeof(port));
    if (0 == failed) {
        snprintf(text, text_size, "%s", port);
        return OC_OK;
    }
    snprintf(text, text_size, "%s: cannot %s (%s)", port, what, strerror(failed));
    return ENOMEM == failed ? OC_ERR_NO_MEMORY : OC_ERR_SYSTEM;
}

oc_status_t oc_verbs_source_open(const char *interface, oc_verbs_source_t **result, char *text,
                                 size_t text_size)
{
    oc_verbs_source_t *source = calloc(1, sizeof(*source));
    oc_status_t status;

    if (NULL == source) {
        snprintf(text, text_size, "out of memory");
        return OC_ERR_NO_MEMORY;
    }
    source->watch.fd = -1;
    source->pause = FIRST_PAUSE;
    source->mended = oc_clock_ns();
    status = oc_verbs_port_open(interface, &source->port, text, text_size);
    if (OC_OK == status) {
        status = verbs_source_make_resources(source, text, text_size);
    }
    if (OC_OK != status) {
        oc_verbs_source_close(source);
        return status;
    }
    *result = source;
    return OC_OK;
}

void oc_verbs_source_close(oc_verbs_source_t *source)
{
    if (NULL == source) {
        return;
    }
    oc_verbs_watch_close(&source->watch);
    if (NULL != source->port.id && NULL != source->port.id->qp) {
        rdma_destroy_qp(source->port.id);
    }
    if (NULL != source->queue) {
        (void) oc_verbs_take_wakeups(source->wakeups);
        (void) ibv_destroy_cq(source->queue);
    }
    oc_verbs_ring_free(&source->ring);
    if (NULL != source->wakeups) {
        (void) ibv_destroy_comp_channel(source->wakeups);
    }
    if (NULL != source->domain) {
        (void) ibv_dealloc_pd(source->domain);
    }
    oc_verbs_port_close(&source->port);
    free(source);
}

size_t oc_verbs_source_datagram_size(const oc_verbs_source_t *source)
{
    return source->port.mtu;
}

oc_origin_t oc_verbs_source_origin(const oc_verbs_source_t *source)
{
    oc_origin_t origin = oc_verbs_port_origin(&source->port);

    origin.port = source->port.id->qp->qp_num;
    return origin;
}

const char *oc_verbs_source_ethernet(const oc_verbs_source_t *source)
{
    return source->port.ethernet ? source->port.interface : NULL;
}
