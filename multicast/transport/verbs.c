/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Owns datagrams by libibverbs: one UD queue pair for each address receives them (verbs_intake.h),
 * and what is sent goes through the queue pair of the process (verbs_source.h).
 */
#include "multicast/transport/verbs.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>

#include "base/clock.h"
#include "base/descriptors.h"
#include "multicast/transport/verbs_group.h"
#include "multicast/transport/verbs_intake.h"
#include "multicast/transport/verbs_origin.h"
#include "multicast/transport/verbs_source.h"

#define REPOST_BATCH 32u

typedef struct {
    oc_transport_t base;
    oc_verbs_source_t *source;
    oc_origin_t origin;                         /* of what this process sends */
    oc_verbs_group_t group;
    oc_verbs_intake_t intake;
    unsigned long long *own;
    int sleep_fd;                               /* epoll: wakeups of both, and the watch */
} verbs_t;

/* ---- the membership ---- */

static void note_membership(verbs_t *verbs)
{
    const oc_verbs_membership_t *membership = &verbs->group.membership;

    if (OC_MEMBERSHIP_REFUSED == membership->state) {
        verbs->base.refused = verbs->group.refusal;
    }
    verbs->base.absent = oc_verbs_membership_is_away(membership, verbs->source->watch.looked);
}

bool oc_verbs_is_joined(const oc_transport_t *transport)
{
    return OC_MEMBERSHIP_JOINED == ((const verbs_t *) transport)->group.membership.state;
}

static unsigned verbs_send(oc_transport_t *base, const oc_outgoing_t *datagrams, unsigned count)
{
    verbs_t *verbs = (verbs_t *) base;

    if (NULL == verbs->group.to.handle) {
        return NULL == base->refused ? 0 : count;
    }
    return oc_verbs_source_send(verbs->source, &verbs->group.to, datagrams, count);
}

/* ---- receiving ---- */

/* Posts again what has been handed out. */
static void repost(verbs_t *verbs)
{
    int error = oc_verbs_intake_repost(&verbs->intake);

    if (0 != error) {
        oc_verbs_group_break(&verbs->group, "receives cannot be posted", strerror(error));
    }
}

/* Only when all arrivals have been handed out. false: there is nothing. */
static bool poll_arrivals(verbs_t *verbs)
{
    int count = oc_verbs_intake_poll(&verbs->intake);

    if (count < 0) {
        oc_verbs_group_end(&verbs->group, "completions of receives are lost");
    }
    return count > 0;
}

/*
 * Where it came from; false: from this process. Devices bring back what it sends, and cannot be
 * told not to: the flag for that (IBV_QP_CREATE_BLOCK_SELF_MCAST_LB) is about what a queue pair
 * sends itself, and here another one sends. Nearly always the number of the queue pair decides,
 * which is in the completion.
 */
static bool tell_origin(const verbs_t *verbs, const struct ibv_wc *arrival, const uint8_t *bytes,
                        oc_origin_t *from)
{
    *from = (oc_origin_t) {.port = 0};
    /* without one, which multicast always has, those bytes are of an earlier datagram */
    if (0 != (arrival->wc_flags & IBV_WC_GRH)) {
        *from = oc_verbs_origin(bytes, arrival->byte_len);
        from->port = arrival->src_qp;
    }
    return verbs->origin.port != arrival->src_qp
           || 0 != memcmp(from, &verbs->origin, sizeof(*from));
}

/*
 * Hands out one datagram and returns how many that were. After a failure the device gives back all
 * receives; to post them again would only bring them back.
 */
static unsigned verbs_hand_out(verbs_t *verbs, const struct ibv_wc *arrival,
                               oc_arrival_fn_t *arrived, void *arg)
{
    const oc_verbs_ring_t *ring = &verbs->intake.ring;
    unsigned slot = (unsigned) arrival->wr_id;
    const uint8_t *bytes = ring->memory + slot * ring->slot_size;
    unsigned count = 0;
    oc_origin_t from;

    if (IBV_WC_SUCCESS != arrival->status) {
        oc_verbs_group_break(&verbs->group, "receiving failed",
                             ibv_wc_status_str(arrival->status));
        return 0;
    }
    if (arrival->byte_len >= OC_VERBS_GRH) {
        if (tell_origin(verbs, arrival, bytes, &from)) {
            arrived(arg, &from, bytes + OC_VERBS_GRH, arrival->byte_len - OC_VERBS_GRH);
            count = 1;
        } else {
            (*verbs->own)++;
        }
    }
    oc_verbs_intake_return(&verbs->intake, slot);
    return count;
}

static unsigned verbs_receive(oc_transport_t *base, unsigned max, oc_arrival_fn_t *arrived,
                              void *arg)
{
    verbs_t *verbs = (verbs_t *) base;
    oc_verbs_intake_t *intake = &verbs->intake;
    unsigned count = 0;

    oc_verbs_watch_glance(&verbs->source->watch);
    note_membership(verbs);
    while (count < max && (oc_verbs_intake_has(intake) || poll_arrivals(verbs))) {
        count += verbs_hand_out(verbs, &intake->arrivals[intake->next_arrival++], arrived, arg);
        if (intake->num_used >= REPOST_BATCH) {
            repost(verbs);
        }
    }
    repost(verbs);
    return count;
}

/* ---- sleeping ---- */

/* A device that is gone has only errors to tell, and would keep everybody awake. */
static void close_ears(const verbs_t *verbs)
{
    if (OC_MEMBERSHIP_ENDED == verbs->group.membership.state) {
        (void) epoll_ctl(verbs->sleep_fd, EPOLL_CTL_DEL, verbs->intake.wakeups->fd, NULL);
    }
    if (verbs->source->ended) {
        (void) epoll_ctl(verbs->sleep_fd, EPOLL_CTL_DEL, verbs->source->wakeups->fd, NULL);
    }
}

/* A completion that came before the request for a wakeup causes none: hence the second look. */
static bool verbs_arm(oc_transport_t *base, bool sending)
{
    verbs_t *verbs = (verbs_t *) base;
    oc_verbs_watch_t *watch = &verbs->source->watch;

    (void) oc_verbs_take_wakeups(verbs->intake.wakeups);
    oc_verbs_watch_look(watch, oc_clock_ns());
    note_membership(verbs);
    close_ears(verbs);
    if (NULL != base->refused || oc_verbs_source_heed(verbs->source)
        || oc_verbs_intake_has(&verbs->intake)) {
        return false;
    }
    (void) ibv_req_notify_cq(verbs->intake.queue, 0);
    if (poll_arrivals(verbs)) {
        return false;
    }
    base->due = UINT64_MAX == watch->due ? 0 : watch->due;
    /* until it has joined, the watch wakes it */
    return !sending || NULL == verbs->group.to.handle || oc_verbs_source_arm(verbs->source);
}

/* ---- opening and closing ---- */

static void verbs_close(oc_transport_t *base)
{
    verbs_t *verbs = (verbs_t *) base;

    oc_verbs_group_leave(&verbs->group);
    if (verbs->sleep_fd >= 0) {
        oc_fd_close(verbs->sleep_fd);
    }
    oc_verbs_intake_free(&verbs->intake);
    oc_verbs_port_close(&verbs->group.port);
    free(verbs);
}

static const oc_transport_ops_t verbs_ops = {
    .name = "verbs",
    .send = verbs_send,
    .receive = verbs_receive,
    .arm = verbs_arm,
    .close = verbs_close,
};

static int verbs_watch(const verbs_t *verbs, int fd)
{
    struct epoll_event event = {.events = EPOLLIN};

    return 0 == epoll_ctl(verbs->sleep_fd, EPOLL_CTL_ADD, fd, &event) ? 0 : errno;
}

/*
 * One descriptor for what arrives, for room to send, and for what happens. A wakeup that another
 * transport of this process has asked the source for is one for nothing here.
 */
static int verbs_watch_all(verbs_t *verbs, const char **what)
{
    int failed;

    *what = "make a descriptor to sleep on";
    verbs->sleep_fd = oc_fd_make(epoll_create1(EPOLL_CLOEXEC));
    if (verbs->sleep_fd < 0) {
        return errno;
    }
    failed = verbs_watch(verbs, verbs->intake.wakeups->fd);
    if (0 == failed) {
        failed = verbs_watch(verbs, verbs->source->wakeups->fd);
    }
    return 0 == failed ? verbs_watch(verbs, verbs->source->watch.fd) : failed;
}

static oc_status_t verbs_make_resources(verbs_t *verbs, size_t staging, char *error,
                                        size_t error_size)
{
    const char *what;
    char text[128];
    int failed = oc_verbs_intake_make(&verbs->intake, verbs->group.port.id,
                                      verbs->base.datagram_size, staging, &what);

    if (0 == failed) {
        failed = verbs_watch_all(verbs, &what);
    }
    if (0 == failed) {
        verbs->base.staging = oc_verbs_intake_slots(&verbs->intake);
        return OC_OK;
    }
    oc_verbs_port_text(&verbs->group.port, text, sizeof(text));
    snprintf(error, error_size, "%s: cannot %s (%s)", text, what, strerror(failed));
    return ENOMEM == failed ? OC_ERR_NO_MEMORY : OC_ERR_SYSTEM;
}

/* What others know this process by does not change. */
static oc_status_t compare_ports(const verbs_t *verbs, char *error, size_t error_size)
{
    oc_origin_t here = oc_verbs_port_origin(&verbs->group.port);
    oc_origin_t there = oc_verbs_port_origin(&verbs->source->port);
    char old[128], new[128];

    if (verbs->group.port.id->verbs == verbs->source->port.id->verbs
        && 0 == memcmp(&here, &there, sizeof(here))) {
        return OC_OK;
    }
    oc_verbs_port_text(&verbs->source->port, old, sizeof(old));
    oc_verbs_port_text(&verbs->group.port, new, sizeof(new));
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
    verbs->base.ops = &verbs_ops;
    verbs->base.events = POLLIN;
    verbs->source = config->source;
    verbs->origin = oc_verbs_source_origin(config->source);
    verbs->own = config->own;
    verbs->group.source = config->source;
    verbs->group.intake = &verbs->intake;
    verbs->group.address = config->address;
    verbs->group.renewed = config->renewed;
    status = oc_verbs_port_open(config->interface, &verbs->group.port, error, error_size);
    if (OC_OK == status) {
        status = compare_ports(verbs, error, error_size);
    }
    if (OC_OK == status) {
        verbs->base.datagram_size = verbs->group.port.mtu;
        status = verbs_make_resources(verbs, config->staging, error, error_size);
    }
    if (OC_OK == status) {
        status = oc_verbs_group_join(&verbs->group, error, error_size);
    }
    if (OC_OK != status) {
        verbs_close(&verbs->base);
        return status;
    }
    verbs->base.event_fd = verbs->sleep_fd;
    *transport = &verbs->base;
    return OC_OK;
}

uint32_t oc_verbs_staging(const oc_verbs_source_t *source, size_t bytes)
{
    unsigned receives;
    const char *what;

    return 0 == oc_verbs_intake_size(source->port.id->verbs, source->port.mtu, bytes, &receives, &what)
               ? receives
               : 0;
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
