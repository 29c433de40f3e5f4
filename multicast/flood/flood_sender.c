/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Each slot begins with a mark, and those that watch read their counters; its burst comes a moment
 * later, and the next mark when that has arrived. Whoever is late makes slots longer, and no two of
 * them overlap.
 */
#include "multicast/flood/flood_sender.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>

#include "base/descriptors.h"
#include "base/log.h"
#include "multicast/flood/flood_frame.h"
#include "multicast/transport/flood_socket.h"
#include "multicast/transport/udp.h"

#define RETRY (OC_MILLISECOND / 2)

/*
 * In 224.0.0.0/24, of which switches may not prune anything (RFC 4541): one for experiments, and
 * some that belong to nobody. Several, because cards have filters of hashes, which may pass one
 * that nobody has joined for the sake of another.
 */
static const uint32_t controls[OC_FLOOD_CONTROLS] = {0xe00000fe, 0xe00000fa, 0xe00000f9,
                                                     0xe00000f8};

struct in_addr oc_flood_control(uint32_t round)
{
    return (struct in_addr) {.s_addr = htonl(controls[round % OC_FLOOD_CONTROLS])};
}

void oc_flood_sender_open(oc_flood_sender_t *sender, const oc_flood_place_t *place, oc_mac_t *seal)
{
    *sender = (oc_flood_sender_t) {.place = place, .seal = seal, .most = OC_FLOOD_BURST,
                                   .due = UINT64_MAX};
    sender->fd = oc_flood_socket_open(&place->interface);
    if (sender->fd < 0) {
        oc_info("whether the network floods multicast cannot be tested: %s", strerror(errno));
        sender->over = true;
    }
}

void oc_flood_sender_close(oc_flood_sender_t *sender)
{
    if (NULL != sender->place && sender->fd >= 0) {
        oc_fd_close(sender->fd);
    }
    sender->place = NULL;
}

void oc_flood_sender_begin(oc_flood_sender_t *sender, uint64_t now)
{
    if (!sender->begun && !sender->over) {
        sender->begun = true;
        sender->due = now + OC_FLOOD_SETTLE;
    }
}

static void flood_sender_end(oc_flood_sender_t *sender)
{
    sender->over = true;
    sender->due = UINT64_MAX;
}

/* false: it has to be tried again, or there is nothing more to try. */
static bool send_frame(oc_flood_sender_t *sender, const oc_flood_frame_t *frame,
                       struct in_addr address, uint64_t now)
{
    bool is_mark = OC_FLOOD_FRAME_MARK == frame->kind;
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_addr = address,
                             .sin_port = htons(is_mark ? sender->place->port
                                                       : oc_flood_burst_port(sender->place))};
    uint8_t bytes[OC_FLOOD_FRAME_SIZE];

    oc_flood_frame_encode(sender->seal, sender->place->token, frame, bytes);
    if (sendto(sender->fd, bytes, sizeof(bytes), MSG_DONTWAIT, (struct sockaddr *) &to,
               sizeof(to)) >= 0) {
        return true;
    }
    if (EAGAIN == errno || EWOULDBLOCK == errno || ENOBUFS == errno || ENOMEM == errno) {
        sender->due = now + RETRY;
    } else {
        oc_info("whether the network floods multicast cannot be tested: %s", strerror(errno));
        flood_sender_end(sender);
    }
    return false;
}

static void send_mark(oc_flood_sender_t *sender, uint64_t now)
{
    oc_flood_frame_t mark = {.kind = OC_FLOOD_FRAME_MARK, .slot = sender->slot};

    if (send_frame(sender, &mark, sender->place->marks, now)) {
        sender->marked = true;
        sender->sent = 0;
        sender->due = now + OC_FLOOD_LEAD;
    }
}

static void set_reach(const oc_flood_sender_t *sender, int ttl)
{
    (void) setsockopt(sender->fd, IPPROTO_IP, IP_MULTICAST_TTL, &ttl, sizeof(ttl));
}

/*
 * As far as the job's own go; those for one link no farther than that. false: not all of it has
 * been sent.
 */
static bool send_burst(oc_flood_sender_t *sender, oc_flood_kind_t kind, struct in_addr address,
                       uint64_t now)
{
    uint32_t left = OC_FLOOD_BURST - sender->sent;
    uint32_t end = sender->sent + (left < sender->most ? left : sender->most);
    bool sent = true;

    set_reach(sender, OC_FLOOD_FRAME_CONTROL == kind ? 1 : OC_UDP_TTL);
    while (sent && sender->sent < end) {
        oc_flood_frame_t frame = {.kind = kind, .slot = sender->slot, .index = sender->sent};

        sent = send_frame(sender, &frame, address, now);
        sender->sent += sent;
    }
    set_reach(sender, OC_UDP_TTL);
    return OC_FLOOD_BURST == sender->sent;
}

/* false: not all of it has been sent. */
static bool fill_round(oc_flood_sender_t *sender, uint64_t now)
{
    switch (oc_flood_phase(sender->slot)) {
    case OC_PHASE_CONTROL:
        return send_burst(sender, OC_FLOOD_FRAME_CONTROL,
                          oc_flood_control(sender->slot / OC_PHASES), now);
    case OC_PHASE_PROBE:
        return send_burst(sender, OC_FLOOD_FRAME_PROBE, sender->place->probes, now);
    default:
        return true;
    }
}

void oc_flood_sender_progress(oc_flood_sender_t *sender, uint64_t now)
{
    if (!sender->begun || sender->over || now < sender->due) {
        return;
    }
    if (!sender->marked) {
        send_mark(sender, now);
    } else if (OC_FLOOD_SLOTS == sender->slot) {
        flood_sender_end(sender); /* the last mark has had time to be read */
    } else if (fill_round(sender, now)) {
        sender->marked = false;
        sender->slot++;
        sender->due = now + OC_FLOOD_TAIL;
    }
}
