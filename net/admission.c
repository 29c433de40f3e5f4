/* SPDX-License-Identifier: BSD-3-Clause */
/* Filters at sockets: made anew, and replaced, whenever somebody is admitted. */
#include "net/admission.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include <utlist.h>

#include "base/log.h"
#include "net/address.h"
#include "net/filter.h"
#include "net/guarded.h"

/* Kernels with little memory for what belongs to a socket take shorter programs. */
#define SHORTEST 64

#define MAX_OWN 256

/* Addresses and networks that are kept: with more, those that are near each other become one. */
#define MOST 65536

/* So many of those for whom there was no memory are tried again. */
#define MOST_MISSING 64

struct oc_admission {
    oc_host_set_t hosts, own;   /* own: this host's addresses, with loopback */
    bool has_own;               /* they are among the hosts */
    bool grew;                  /* since the filters were made */
    oc_guarded_t *sockets;
    unsigned open_sockets;
    bool told;                  /* that there are such */
    bool told_shut;             /* that somebody is not admitted who should be */
    struct in6_addr missing[MOST_MISSING]; /* who should be, when there was no memory */
    unsigned num_missing;
    bool lost;                  /* for good: a socket that was shut, or more missing than that */
    unsigned bits;              /* of the widest prefix that stands for several hosts */
    size_t longest;             /* program that is tried */
};

static void learn_own(oc_host_set_t *own)
{
    static const struct in6_addr v4_loopback = {
        .s6_addr = {[10] = 0xff, [11] = 0xff, [12] = 127, [15] = 1}};
    struct in6_addr *addresses = calloc(MAX_OWN, sizeof(*addresses));
    unsigned count = NULL == addresses ? 0 : oc_own_addresses(addresses, MAX_OWN);

    (void) oc_host_set_add(own, &v4_loopback);
    (void) oc_host_set_add(own, &in6addr_loopback);
    for (unsigned i = 0; i < count; i++) {
        (void) oc_host_set_add(own, &addresses[i]);
    }
    free(addresses);
}

oc_admission_t *oc_admission_open(void)
{
    oc_admission_t *admission = calloc(1, sizeof(*admission));

    if (NULL != admission) {
        admission->bits = OC_ADDRESS_BITS;
        admission->longest = OC_FILTER_MAX;
        learn_own(&admission->own);
    }
    return admission;
}

void oc_admission_close(oc_admission_t *admission)
{
    oc_guarded_t *socket, *next;

    if (NULL == admission) {
        return;
    }
    DL_FOREACH_SAFE (admission->sockets, socket, next) {
        free(socket);
    }
    oc_host_set_free(&admission->hosts);
    oc_host_set_free(&admission->own);
    free(admission);
}

const char *oc_admission_hint(int error)
{
    return EPERM == error ? "; this kernel lets only processes with CAP_NET_ADMIN filter TCP"
                          : "";
}

static void admission_tell(oc_admission_t *admission, const char *reason, const char *hint)
{
    admission->open_sockets++;
    if (!admission->told) {
        admission->told = true;
        oc_info("the data port of this process is open to every host that reaches it, because its "
                "connections cannot be filtered: %s%s", reason, hint);
    }
}

void oc_admission_miss(oc_admission_t *admission, const char *reason)
{
    admission_tell(admission, reason, "");
}

/* Who is shut out for want of memory may be a host of the job, and cannot be served. */
static void tell_shut(oc_admission_t *admission)
{
    if (!admission->told_shut) {
        admission->told_shut = true;
        oc_warn("there is no memory for a filter that admits more hosts to the data port of this "
                "process: those that came last cannot connect until there is");
    }
}

/*
 * A filter that is not the latest keeps out who is new, and that is better than to let in
 * everybody: only what the kernel has never filtered stays open.
 */
static void keep_shut(oc_admission_t *admission, oc_guarded_t *socket, int error)
{
    if (socket->filtered || 0 == oc_socket_shut(socket->fd)) {
        socket->filtered = true;
        /* the next renewal makes good for it */
        admission->grew = true;
        tell_shut(admission);
        return;
    }
    socket->open = true;
    admission_tell(admission, strerror(error), oc_admission_hint(error));
}

/*
 * The longest program that fits, with *bits for the widest prefix in it. 0: no memory to make one,
 * which says nothing about how long it may be.
 */
static size_t admission_make(const oc_admission_t *admission, int family, struct sock_filter *code,
                             unsigned *bits)
{
    oc_host_set_t hosts;
    size_t length;

    *bits = OC_ADDRESS_BITS;
    if (!oc_host_set_copy(&admission->hosts, &hosts)) {
        return 0;
    }
    while (0 == (length = oc_filter_make(&hosts, family, code, admission->longest))
           && *bits > 1) {
        oc_host_set_widen(&hosts, --*bits);
    }
    oc_host_set_free(&hosts);
    return length;
}

static void tell_width(oc_admission_t *admission, int family, unsigned bits)
{
    if (bits < admission->bits) {
        admission->bits = bits;
        oc_info("the hosts of this job are more than a filter has room for: its data ports admit "
                "whole networks around them, /%u and smaller",
                AF_INET == family && bits > OC_MAPPED_BITS ? bits - OC_MAPPED_BITS : bits);
    }
}

/* 0, or the errno of the first socket that refuses it. */
static int admission_attach(oc_admission_t *admission, int family, struct sock_filter *code,
                            size_t length)
{
    oc_guarded_t *socket;
    int error = 0;

    DL_FOREACH (admission->sockets, socket) {
        if (0 == error && family == socket->family && !socket->open) {
            error = oc_guarded_filter(socket, code, length);
        }
    }
    return error;
}

/* The same; also if there is no memory to make a program. */
static int admission_renew(oc_admission_t *admission, int family, struct sock_filter *code)
{
    unsigned bits;
    size_t length = admission_make(admission, family, code, &bits);
    int error = 0 == length ? ENOMEM : admission_attach(admission, family, code, length);

    while (ENOMEM == error && 0 != length && admission->longest > SHORTEST) {
        admission->longest /= 2;
        length = admission_make(admission, family, code, &bits);
        error = 0 == length ? ENOMEM : admission_attach(admission, family, code, length);
    }
    if (0 == error) {
        tell_width(admission, family, bits);
    }
    return error;
}

static bool has_sockets(const oc_admission_t *admission, int family)
{
    const oc_guarded_t *socket;

    DL_FOREACH (admission->sockets, socket) {
        if (family == socket->family && !socket->open) {
            return true;
        }
    }
    return false;
}

static void renew_family(oc_admission_t *admission, int family)
{
    struct sock_filter *code;
    oc_guarded_t *socket;
    int error;

    if (!has_sockets(admission, family)) {
        return;
    }
    code = calloc(OC_FILTER_MAX, sizeof(*code));
    error = NULL == code ? ENOMEM : admission_renew(admission, family, code);
    free(code);
    DL_FOREACH (admission->sockets, socket) {
        if (0 != error && family == socket->family && !socket->open) {
            keep_shut(admission, socket, error);
        }
    }
}

void oc_admission_guard(oc_admission_t *admission, int fd)
{
    int error;
    oc_guarded_t *socket = oc_guarded_new(fd, &error);

    if (NULL != socket) {
        DL_APPEND(admission->sockets, socket);
        renew_family(admission, socket->family);
    } else if (ENOMEM == error && 0 == oc_socket_shut(fd)) {
        admission->lost = true;
        tell_shut(admission);
    } else {
        admission_tell(admission, strerror(error), "");
    }
}

void oc_admission_release(oc_admission_t *admission, int fd)
{
    oc_guarded_t *socket;

    DL_SEARCH_SCALAR(admission->sockets, socket, fd, fd);
    if (NULL != socket) {
        DL_DELETE(admission->sockets, socket);
        free(socket);
    }
}

static void keep_bounded(oc_admission_t *admission)
{
    if (admission->hosts.count >= MOST) {
        for (unsigned bits = OC_ADDRESS_BITS - 1; bits > 0 && admission->hosts.count > MOST / 2;
             bits--) {
            oc_host_set_widen(&admission->hosts, bits);
        }
    }
}

static void miss(oc_admission_t *admission, const struct in6_addr *address)
{
    for (unsigned i = 0; i < admission->num_missing; i++) {
        if (0 == memcmp(&admission->missing[i], address, sizeof(*address))) {
            return;
        }
    }
    if (MOST_MISSING == admission->num_missing) {
        admission->lost = true;
    } else {
        admission->missing[admission->num_missing++] = *address;
    }
}

/* Whether anybody is new. Without memory for one, he stays outside, for the time being. */
static bool admission_add(oc_admission_t *admission, const struct in6_addr *address)
{
    switch (oc_host_set_add(&admission->hosts, address)) {
    case OC_HOST_ADDED:
        keep_bounded(admission);
        return true;
    case OC_HOST_NO_MEMORY:
        miss(admission, address);
        tell_shut(admission);
        break;
    default:
        break;
    }
    return false;
}

static bool add_missing(oc_admission_t *admission)
{
    struct in6_addr again[MOST_MISSING];
    unsigned count = admission->num_missing;
    bool grew = false;

    memcpy(again, admission->missing, count * sizeof(again[0]));
    admission->num_missing = 0;
    for (unsigned i = 0; i < count; i++) {
        grew |= admission_add(admission, &again[i]);
    }
    return grew;
}

/* What talks to this host from itself may take any of its addresses. */
static bool add_own(oc_admission_t *admission)
{
    bool grew = false;

    for (size_t i = 0; !admission->has_own && i < admission->own.count; i++) {
        grew |= admission_add(admission, &admission->own.prefixes[i].address);
    }
    admission->has_own = true;
    return grew;
}

bool oc_admission_note(oc_admission_t *admission, const struct in6_addr *addresses, size_t count)
{
    admission->grew |= add_missing(admission);
    for (size_t i = 0; i < count; i++) {
        admission->grew |= admission_add(admission, &addresses[i]);
        if (oc_host_set_has(&admission->own, &addresses[i])) {
            admission->grew |= add_own(admission);
        }
    }
    return admission->grew;
}

bool oc_admission_note_peer(oc_admission_t *admission, int fd)
{
    oc_sockaddr_t peer = {.length = sizeof(peer.address)};
    struct in6_addr address;

    if (0 == getpeername(fd, (struct sockaddr *) &peer.address, &peer.length)
        && oc_sockaddr_mapped(&peer, &address)) {
        (void) oc_admission_note(admission, &address, 1);
    }
    return admission->grew;
}

void oc_admission_renew(oc_admission_t *admission)
{
    if (admission->grew) {
        admission->grew = false;
        renew_family(admission, AF_INET);
        renew_family(admission, AF_INET6);
    }
}

void oc_admission_admit(oc_admission_t *admission, const struct in6_addr *addresses,
                        size_t count)
{
    (void) oc_admission_note(admission, addresses, count);
    oc_admission_renew(admission);
}

void oc_admission_admit_peer(oc_admission_t *admission, int fd)
{
    (void) oc_admission_note_peer(admission, fd);
    oc_admission_renew(admission);
}

bool oc_admission_is_complete(const oc_admission_t *admission)
{
    return !admission->lost && 0 == admission->num_missing && !admission->grew;
}

size_t oc_admission_count(const oc_admission_t *admission)
{
    return admission->hosts.count;
}

unsigned oc_admission_open_sockets(const oc_admission_t *admission)
{
    return admission->open_sockets;
}

int oc_admission_try(void)
{
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    int error = fd < 0 ? errno : oc_socket_shut(fd);

    if (fd >= 0) {
        close(fd);
    }
    return error;
}
