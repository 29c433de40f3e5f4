/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Owns TCP between simulated hosts. An end goes to the other side behind the bytes, as an order if there was nothing left
 * to read, otherwise as a break; what comes for a socket that is gone is answered by a break.
 */
#include "tests/simulation/sockets.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <string.h>

#include "tests/simulation/sockets_types.h"

#define FIRST_PORT 30000

static uint16_t next_port = FIRST_PORT;

uint32_t host_address(unsigned number)
{
    return (10u << 24) + (77u << 16) + number + 1;
}

int descriptor_stream(int family, int type)
{
    descriptor_t *stream = descriptor_new(DESCRIPTOR_STREAM);

    stream->family = family;
    stream->is_datagram = 0 != (type & SOCK_DGRAM);
    return stream->number;
}

/* false: no host has it. */
static bool parse(const struct sockaddr *address, unsigned *host, uint16_t *port)
{
    const struct sockaddr_in *in = (const struct sockaddr_in *) address;
    const struct sockaddr_in6 *in6 = (const struct sockaddr_in6 *) address;
    uint32_t number;

    *port = ntohs(in->sin_port);
    if (AF_INET == address->sa_family) {
        number = ntohl(in->sin_addr.s_addr);
    } else {
        memcpy(&number, &in6->sin6_addr.s6_addr[12], sizeof(number));
        number = ntohl(number);
    }
    *host = number - host_address(0);
    if (INADDR_LOOPBACK == number) {
        *host = process_self()->host;
    }
    return *host < WORLD_HOSTS;
}

static void compose(struct sockaddr *address, socklen_t *length, int family, unsigned host, uint16_t port)
{
    struct sockaddr_in in = {.sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(host_address(host))};
    struct sockaddr_in6 in6 = {.sin6_family = AF_INET6, .sin6_port = htons(port),
                               .sin6_addr.s6_addr = {[10] = 0xff, [11] = 0xff}};

    memcpy(&in6.sin6_addr.s6_addr[12], &in.sin_addr, sizeof(in.sin_addr));
    if (AF_INET == family) {
        memcpy(address, &in, *length < sizeof(in) ? *length : sizeof(in));
        *length = sizeof(in);
    } else {
        memcpy(address, &in6, *length < sizeof(in6) ? *length : sizeof(in6));
        *length = sizeof(in6);
    }
}

int stream_name(int fd, bool other, struct sockaddr *address, socklen_t *length)
{
    const descriptor_t *stream = descriptor_find(fd);

    if (other && !stream->connected) {
        errno = ENOTCONN;
        return -1;
    }
    compose(address, length, stream->family, other ? stream->other_host : stream->process->host,
            other ? stream->other_port : stream->port);
    return 0;
}

int stream_bind(int fd, const struct sockaddr *address)
{
    descriptor_t *stream = descriptor_find(fd);

    stream->port = ntohs(((const struct sockaddr_in *) address)->sin_port);
    if (0 == stream->port) {
        stream->port = next_port++;
    }
    return 0;
}

static descriptor_t *find_listener(unsigned host, uint16_t port)
{
    descriptor_t *found;

    for (unsigned i = 0; NULL != (found = descriptor_number(i)); i++) {
        if (DESCRIPTOR_LISTENER == found->kind && !found->closed && host == found->process->host
            && port == found->port) {
            return found;
        }
    }
    return NULL;
}

int stream_listen(int fd)
{
    descriptor_t *stream = descriptor_find(fd);

    if (NULL != find_listener(stream->process->host, stream->port)) {
        errno = EADDRINUSE;
        return -1;
    }
    stream->kind = DESCRIPTOR_LISTENER;
    return 0;
}

static void stream_break(descriptor_t *stream, int error)
{
    stream->error = error;
    stream->connecting = false;
    wire_cut(stream->out);
    if (!stream->closed) {
        process_look(stream->process);
    }
}

static void on_reset(void *thing)
{
    descriptor_t *stream = thing;

    stream_break(stream, stream->connecting ? ECONNREFUSED : ECONNRESET);
}

static void on_broken(void *owner)
{
    stream_break(owner, ETIMEDOUT);
}

/* The answer to what nobody gets any more; it comes behind all that the other end has sent, if that is still on its way. */
static void reset_sender(descriptor_t *sender)
{
    wire_t *way = NULL != sender->other ? sender->other->out : NULL;

    if (NULL == way || wire_is_cut(way)) {
        way = wire_new(sender->other_host, sender->process->host, NULL, NULL);
    }
    wire_send(way, on_reset, sender);
}

static void on_break(void *thing)
{
    on_reset(((descriptor_t *) thing)->other);
}

/* ---- connecting ---- */

static void on_connected(void *thing)
{
    descriptor_t *stream = thing;

    if (stream->closed && stream->connecting) {
        /* nobody waits for it any more */
        wire_send(stream->out, on_break, stream);
    }
    if (stream->closed || !stream->connecting) {
        return;
    }
    stream->connecting = false;
    stream->connected = true;
    process_look(stream->process);
}

static void on_call(void *thing)
{
    descriptor_t *caller = thing, *listener = find_listener(caller->other_host, caller->other_port), *stream;

    if (NULL == listener) {
        reset_sender(caller);
        return;
    }
    stream = descriptor_new(DESCRIPTOR_STREAM);
    stream->process = listener->process;
    stream->family = listener->family;
    stream->port = listener->port;
    stream->other_host = caller->process->host;
    stream->other_port = caller->port;
    stream->connected = true;
    stream->other = caller;
    stream->out = wire_new(listener->process->host, caller->process->host, on_broken, stream);
    caller->other = stream;
    wire_send(stream->out, on_connected, caller);
    fifo_push(&listener->backlog, 0, stream);
    process_look(listener->process);
}

int stream_connect(int fd, const struct sockaddr *address)
{
    descriptor_t *stream = descriptor_find(fd);

    if (!parse(address, &stream->other_host, &stream->other_port)) {
        errno = ENETUNREACH;
        return -1;
    }
    stream->port = next_port++;
    if (stream->is_datagram) {
        return 0;
    }
    stream->connecting = true;
    world_trace("connects from port %u to host %u, port %u", stream->port, stream->other_host, stream->other_port);
    stream->out = wire_new(stream->process->host, stream->other_host, on_broken, stream);
    wire_send(stream->out, on_call, stream);
    errno = EINPROGRESS;
    return -1;
}

int stream_accept(int fd, struct sockaddr *from, socklen_t *length)
{
    descriptor_t *listener = descriptor_find(fd), *stream;

    if (0 == listener->backlog.count) {
        errno = EAGAIN;
        return -1;
    }
    stream = fifo_pull(&listener->backlog).thing;
    compose(from, length, stream->family, stream->other_host, stream->other_port);
    return stream->number;
}

int stream_error(int fd)
{
    descriptor_t *stream = descriptor_find(fd);
    int error = stream->error;

    return error;
}

/* ---- bytes ---- */

typedef struct {
    descriptor_t *from;
    size_t length;
    uint8_t bytes[];
} segment_t;

static void on_segment(void *thing)
{
    segment_t *segment = thing;
    descriptor_t *to = segment->from->other;

    if (to->closed) {
        reset_sender(segment->from);
    } else if (0 == to->error) {
        to->bytes = memory_resize(to->bytes, to->used + segment->length);
        memcpy(to->bytes + to->used, segment->bytes, segment->length);
        to->used += segment->length;
        process_look(to->process);
    }
    free(segment);
}

static void on_end(void *thing)
{
    descriptor_t *from = thing, *to = from->other;

    to->ended = true;
    if (!to->closed) {
        process_look(to->process);
    }
}

ssize_t stream_send(int fd, const void *bytes, size_t length)
{
    descriptor_t *stream = descriptor_find(fd);
    segment_t *segment;

    if (0 != stream->error || stream->shut || !stream->connected) {
        errno = 0 != stream->error ? stream->error : stream->shut ? EPIPE : ENOTCONN;
        return -1;
    }
    /* now and then only a part of it goes */
    if (length > 1 && world_chance(0.02)) {
        length = 1 + (size_t) world_random(length - 1);
    }
    segment = memory_new(sizeof(*segment) + length);
    segment->from = stream;
    segment->length = length;
    memcpy(segment->bytes, bytes, length);
    wire_send(stream->out, on_segment, segment);
    return (ssize_t) length;
}

ssize_t stream_receive(int fd, void *bytes, size_t length)
{
    descriptor_t *stream = descriptor_find(fd);

    if (stream->used > 0) {
        length = length < stream->used ? length : stream->used;
        if (length > 1 && world_chance(0.02)) {
            length = 1 + (size_t) world_random(length - 1);
        }
        memcpy(bytes, stream->bytes, length);
        stream->used -= length;
        memmove(stream->bytes, stream->bytes + length, stream->used);
        return (ssize_t) length;
    }
    if (0 != stream->error || (!stream->ended && !stream->deaf)) {
        errno = 0 != stream->error ? stream->error : stream->connected ? EAGAIN : ENOTCONN;
        return -1;
    }
    return 0;
}

bool stream_has_arrived(int fd)
{
    const descriptor_t *stream = descriptor_find(fd);

    return NULL == stream->out || wire_is_empty(stream->out);
}

int stream_shut(int fd, int how)
{
    descriptor_t *stream = descriptor_find(fd);

    stream->deaf = stream->deaf || SHUT_WR != how;
    if (!stream->connected || stream->shut) {
        errno = ENOTCONN;
        return -1;
    }
    stream->shut = true;
    wire_send(stream->out, on_end, stream);
    process_look(stream->process);
    return 0;
}

void stream_close(descriptor_t *stream)
{
    while (DESCRIPTOR_LISTENER == stream->kind && stream->backlog.count > 0) {
        descriptor_t *waiting = fifo_pull(&stream->backlog).thing;

        waiting->closed = true;
        stream_close(waiting);
    }
    if (DESCRIPTOR_STREAM != stream->kind || !stream->connected || 0 != stream->error) {
        return;
    }
    if (world_host(stream->process->host)->dark) {
        wire_cut(stream->out);
    } else if (stream->used > 0) {
        wire_send(stream->out, on_break, stream);
    } else if (!stream->shut) {
        wire_send(stream->out, on_end, stream);
    }
    stream->shut = true;
}
