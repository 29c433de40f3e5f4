/* SPDX-License-Identifier: BSD-3-Clause */
/* Owns the numbers of descriptors, and what is no socket. */
#include <errno.h>
#include <string.h>

#include "tests/simulation/sockets_types.h"

#define MOST 65536u

/* A descriptor may have several numbers, of which each is closed by itself. */
static struct {
    descriptor_t *descriptor;
    bool closed;
} numbers[MOST];
static unsigned num_numbers;

static int take_number(descriptor_t *descriptor)
{
    if (MOST == num_numbers) {
        world_fail("there are too many descriptors");
    }
    descriptor->numbers++;
    numbers[num_numbers].descriptor = descriptor;
    return FIRST_SIMULATED + (int) num_numbers++;
}

descriptor_t *descriptor_new(descriptor_kind_t kind)
{
    descriptor_t *descriptor = memory_new(sizeof(*descriptor));

    descriptor->kind = kind;
    descriptor->process = process_self();
    descriptor->number = take_number(descriptor);
    return descriptor;
}

descriptor_t *descriptor_number(unsigned index)
{
    return index < num_numbers ? numbers[index].descriptor : NULL;
}

bool descriptor_is_simulated(int fd)
{
    return fd >= FIRST_SIMULATED;
}

descriptor_t *descriptor_find(int fd)
{
    unsigned index = (unsigned) (fd - FIRST_SIMULATED);

    if (!descriptor_is_simulated(fd) || index >= num_numbers) {
        world_fail("descriptor %d was never opened", fd);
    }
    if (numbers[index].closed || process_self() != numbers[index].descriptor->process) {
        world_fail("descriptor %d is used, which %s", fd, numbers[index].closed ? "is closed" : "another process has");
    }
    return numbers[index].descriptor;
}

int descriptor_again(int fd)
{
    return take_number(descriptor_find(fd));
}

int descriptor_event(unsigned count)
{
    descriptor_t *event = descriptor_new(DESCRIPTOR_EVENT);

    event->count = count;
    return event->number;
}

int descriptor_timer(void)
{
    return descriptor_new(DESCRIPTOR_TIMER)->number;
}

int descriptor_epoll(void)
{
    return descriptor_new(DESCRIPTOR_EPOLL)->number;
}

int descriptor_of(bool (*is_readable)(void *thing), void *thing)
{
    descriptor_t *other = descriptor_new(DESCRIPTOR_OTHER);

    other->is_readable = is_readable;
    other->thing = thing;
    return other->number;
}

static uint32_t state_of_stream(const descriptor_t *stream)
{
    uint32_t state = 0;

    if (0 != stream->error) {
        return EPOLLIN | EPOLLOUT | EPOLLERR | EPOLLHUP;
    }
    if (!stream->connected) {
        return stream->connecting ? 0 : EPOLLOUT | EPOLLHUP;
    }
    state = EPOLLOUT;
    if (stream->used > 0 || stream->ended) {
        state |= EPOLLIN;
    }
    if (stream->ended) {
        state |= EPOLLRDHUP;
    }
    return stream->ended && stream->shut ? state | EPOLLHUP : state;
}

static uint32_t state_of_epoll(const descriptor_t *epoll)
{
    for (unsigned i = 0; i < epoll->num_interests; i++) {
        const interest_t *interest = &epoll->interests[i];

        if (!interest->target->closed
            && 0 != (descriptor_state(interest->target) & (interest->event.events | EPOLLERR | EPOLLHUP))) {
            return EPOLLIN;
        }
    }
    return 0;
}

uint32_t descriptor_state(const descriptor_t *descriptor)
{
    switch (descriptor->kind) {
    case DESCRIPTOR_EVENT:
        return (descriptor->count > 0 ? EPOLLIN : 0u) | EPOLLOUT;
    case DESCRIPTOR_TIMER:
    case DESCRIPTOR_BELL:
        return descriptor->count > 0 ? EPOLLIN : 0;
    case DESCRIPTOR_EPOLL:
        return state_of_epoll(descriptor);
    case DESCRIPTOR_LISTENER:
        return descriptor->backlog.count > 0 ? EPOLLIN : 0;
    case DESCRIPTOR_OTHER:
        return descriptor->is_readable(descriptor->thing) ? EPOLLIN : 0;
    default:
        return state_of_stream(descriptor);
    }
}

static void forget_interest(descriptor_t *epoll, const descriptor_t *target)
{
    for (unsigned i = 0; i < epoll->num_interests; i++) {
        if (target == epoll->interests[i].target) {
            epoll->interests[i--] = epoll->interests[--epoll->num_interests];
        }
    }
}

void descriptor_close(int fd)
{
    descriptor_t *descriptor = descriptor_find(fd), *other;

    numbers[fd - FIRST_SIMULATED].closed = true;
    if (--descriptor->numbers > 0) {
        return;
    }
    descriptor->closed = true;
    for (unsigned i = 0; NULL != (other = descriptor_number(i)); i++) {
        if (DESCRIPTOR_EPOLL == other->kind && other->process == descriptor->process) {
            forget_interest(other, descriptor);
        }
    }
    stream_close(descriptor);
}

void descriptors_drop(process_t *process)
{
    descriptor_t *descriptor;

    for (unsigned i = 0; NULL != (descriptor = descriptor_number(i)); i++) {
        if (process == descriptor->process && !descriptor->closed) {
            descriptor->closed = true;
            stream_close(descriptor);
        }
    }
}

bool descriptor_read(int fd, uint64_t *count)
{
    descriptor_t *descriptor = descriptor_find(fd);

    if (0 == descriptor->count) {
        errno = EAGAIN;
        return false;
    }
    *count = descriptor->count;
    descriptor->count = 0;
    return true;
}

void descriptor_add(int fd, uint64_t count)
{
    descriptor_t *descriptor = descriptor_find(fd);

    descriptor->count += count;
    process_look(descriptor->process);
}

static void on_timer(void *owner, const event_t *event)
{
    descriptor_t *timer = owner;

    if (!timer->closed && timer->timer == (uintptr_t) event->thing) {
        timer->count++;
        process_look(timer->process);
    }
}

void descriptor_set_timer(int fd, uint64_t ns)
{
    static const event_kind_t kind = {.happen = on_timer};
    descriptor_t *timer = descriptor_find(fd);

    timer->count = 0;
    timer->timer++;
    if (ns > 0) {
        world_plan(ns, &kind, timer, (void *) (uintptr_t) timer->timer);
    }
}

/* ---- waiting ---- */

int epoll_change(int fd, int op, int target_fd, const struct epoll_event *event)
{
    descriptor_t *epoll = descriptor_find(fd), *target = descriptor_find(target_fd);

    forget_interest(epoll, target);
    if (EPOLL_CTL_DEL != op) {
        epoll->interests = memory_resize(epoll->interests, (epoll->num_interests + 1) * sizeof(*epoll->interests));
        epoll->interests[epoll->num_interests++] = (interest_t) {.target = target, .event = *event};
        process_look(epoll->process);
    }
    return 0;
}

static bool epoll_is_ready(void *arg)
{
    return 0 != state_of_epoll(arg);
}

int epoll_fetch(int fd, struct epoll_event *events, int most, uint64_t until)
{
    descriptor_t *epoll = descriptor_find(fd);
    unsigned first = 0;
    int count = 0;

    (void) fiber_wait(epoll_is_ready, epoll, until);
    if (epoll->num_interests > 0) {
        first = (unsigned) world_random(epoll->num_interests);
    }
    for (unsigned i = 0; i < epoll->num_interests && count < most; i++) {
        const interest_t *interest = &epoll->interests[(first + i) % epoll->num_interests];
        uint32_t state = descriptor_state(interest->target) & (interest->event.events | EPOLLERR | EPOLLHUP);

        if (0 != state) {
            events[count] = interest->event;
            events[count++].events = state;
        }
    }
    return count;
}

typedef struct {
    struct pollfd *fds;
    nfds_t count;
} poll_t;

/* Number of those that something holds for. */
static int poll_look(const poll_t *polled)
{
    int found = 0;

    for (nfds_t i = 0; i < polled->count; i++) {
        struct pollfd *fd = &polled->fds[i];

        fd->revents = 0;
        if (fd->fd >= 0) {
            /* the constants of poll and epoll are the same */
            fd->revents = (short) (descriptor_state(descriptor_number((unsigned) (fd->fd - FIRST_SIMULATED)))
                                   & ((uint32_t) fd->events | EPOLLERR | EPOLLHUP));
        }
        found += 0 != fd->revents;
    }
    return found;
}

static bool poll_is_ready(void *arg)
{
    return poll_look(arg) > 0;
}

static bool is_closed(int fd)
{
    unsigned index = (unsigned) (fd - FIRST_SIMULATED);

    return descriptor_is_simulated(fd) && index < num_numbers && numbers[index].closed;
}

/*
 * Who is going to sleep has given the lock back, so that another thread may have closed one of them: then it does not sleep.
 * Who only looks has the lock.
 */
int descriptors_poll(struct pollfd *fds, nfds_t count, uint64_t until)
{
    poll_t polled = {.fds = fds, .count = count};

    for (nfds_t i = 0; i < count; i++) {
        if (fds[i].fd >= 0 && until > world_now() && is_closed(fds[i].fd)) {
            fds[i].revents = POLLNVAL;
            return 1;
        }
        if (fds[i].fd >= 0) {
            (void) descriptor_find(fds[i].fd);
        }
    }
    (void) fiber_wait(poll_is_ready, &polled, until);
    return poll_look(&polled);
}
