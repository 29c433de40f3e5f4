/* SPDX-License-Identifier: BSD-3-Clause */
/* Owns the way from system calls to what is simulated. */
#include "tests/simulation/calls.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "tests/multicast/memory.h"
#include "tests/simulation/sockets.h"
#include "tests/simulation/world.h"

/* ---- sockets ---- */

int __wrap_socket(int domain, int type, int protocol)
{
    if (NULL == process_self()) {
        return __real_socket(domain, type, protocol);
    }
    return AF_UNIX == domain ? bell_new() : descriptor_stream(domain, type);
}

int __wrap_bind(int fd, const struct sockaddr *address, socklen_t length)
{
    if (!descriptor_is_simulated(fd)) {
        return __real_bind(fd, address, length);
    }
    return descriptor_is_bell(fd) ? bell_bind(fd, address, length) : stream_bind(fd, address);
}

int __wrap_listen(int fd, int backlog)
{
    (void) backlog;
    return stream_listen(fd);
}

int __wrap_connect(int fd, const struct sockaddr *address, socklen_t length)
{
    if (!descriptor_is_simulated(fd)) {
        return __real_connect(fd, address, length);
    }
    if (descriptor_is_bell(fd)) {
        return bell_is_there(address, length) ? 0 : -1;
    }
    return stream_connect(fd, address);
}

int __wrap_accept4(int fd, struct sockaddr *address, socklen_t *length, int flags)
{
    (void) flags;
    return stream_accept(fd, address, length);
}

int __wrap_getsockname(int fd, struct sockaddr *address, socklen_t *length)
{
    return descriptor_is_simulated(fd) ? stream_name(fd, false, address, length)
                                       : __real_getsockname(fd, address, length);
}

int __wrap_getpeername(int fd, struct sockaddr *address, socklen_t *length)
{
    return descriptor_is_simulated(fd) ? stream_name(fd, true, address, length)
                                       : __real_getpeername(fd, address, length);
}

int __wrap_getsockopt(int fd, int level, int option, void *value, socklen_t *length)
{
    if (!descriptor_is_simulated(fd)) {
        return __real_getsockopt(fd, level, option, value, length);
    }
    if (SOL_SOCKET == level && SO_ERROR == option) {
        *(int *) value = stream_error(fd);
        return 0;
    }
    errno = ENOPROTOOPT;
    return -1;
}

int __wrap_setsockopt(int fd, int level, int option, const void *value, socklen_t length)
{
    return descriptor_is_simulated(fd) ? 0 : __real_setsockopt(fd, level, option, value, length);
}

int __wrap_shutdown(int fd, int how)
{
    return stream_shut(fd, how);
}

ssize_t __wrap_send(int fd, const void *bytes, size_t length, int flags)
{
    return descriptor_is_simulated(fd) ? stream_send(fd, bytes, length) : __real_send(fd, bytes, length, flags);
}

ssize_t __wrap_sendto(int fd, const void *bytes, size_t length, int flags, const struct sockaddr *to, socklen_t to_length)
{
    (void) bytes;
    (void) length;
    (void) flags;
    if (!descriptor_is_bell(fd)) {
        world_fail("a datagram is sent that is none between processes of a host");
    }
    return bell_ring(to, to_length);
}

ssize_t __wrap_recv(int fd, void *bytes, size_t length, int flags)
{
    if (!descriptor_is_simulated(fd)) {
        return __real_recv(fd, bytes, length, flags);
    }
    return descriptor_is_bell(fd) ? bell_hear(fd) : stream_receive(fd, bytes, length);
}

int __wrap_close(int fd)
{
    if (!descriptor_is_simulated(fd)) {
        return __real_close(fd);
    }
    descriptor_close(fd);
    return 0;
}

int __wrap_fcntl(int fd, int command, ...)
{
    va_list args;
    long value;

    if (descriptor_is_simulated(fd)) {
        return F_DUPFD_CLOEXEC == command ? descriptor_again(fd) : 0;
    }
    va_start(args, command);
    value = va_arg(args, long);
    va_end(args);
    return __real_fcntl(fd, command, value);
}

/* SIOCOUTQ: bytes that the other end has not acknowledged. */
int __wrap_ioctl(int fd, unsigned long command, ...)
{
    va_list args;
    void *value;

    va_start(args, command);
    value = va_arg(args, void *);
    va_end(args);
    if (!descriptor_is_simulated(fd)) {
        return __real_ioctl(fd, command, value);
    }
    *(int *) value = stream_has_arrived(fd) ? 0 : 1;
    return 0;
}

/* ---- events ---- */

ssize_t __wrap_read(int fd, void *bytes, size_t length)
{
    if (!descriptor_is_simulated(fd)) {
        return __real_read(fd, bytes, length);
    }
    return descriptor_read(fd, bytes) ? (ssize_t) sizeof(uint64_t) : -1;
}

ssize_t __wrap_write(int fd, const void *bytes, size_t length)
{
    uint64_t count;

    if (!descriptor_is_simulated(fd)) {
        return __real_write(fd, bytes, length);
    }
    memcpy(&count, bytes, sizeof(count));
    descriptor_add(fd, count);
    return (ssize_t) length;
}

int __wrap_eventfd(unsigned count, int flags)
{
    (void) flags;
    return descriptor_event(count);
}

int __wrap_eventfd_write(int fd, uint64_t count)
{
    descriptor_add(fd, count);
    return 0;
}

int __wrap_timerfd_create(int clock, int flags)
{
    (void) clock;
    (void) flags;
    return descriptor_timer();
}

int __wrap_timerfd_settime(int fd, int flags, const struct itimerspec *value, struct itimerspec *old)
{
    (void) flags;
    (void) old;
    descriptor_set_timer(fd, (uint64_t) value->it_value.tv_sec * OC_SECOND + (uint64_t) value->it_value.tv_nsec);
    return 0;
}

/* ---- waiting ---- */

/* -1: for ever. */
static uint64_t until(int timeout_ms)
{
    return timeout_ms < 0 ? UINT64_MAX : world_now() + (uint64_t) timeout_ms * OC_MILLISECOND;
}

int __wrap_epoll_create1(int flags)
{
    (void) flags;
    return descriptor_epoll();
}

int __wrap_epoll_ctl(int fd, int op, int target, struct epoll_event *event)
{
    return epoll_change(fd, op, target, event);
}

int __wrap_epoll_wait(int fd, struct epoll_event *events, int most, int timeout)
{
    return epoll_fetch(fd, events, most, until(timeout));
}

int __wrap_poll(struct pollfd *fds, nfds_t count, int timeout)
{
    for (nfds_t i = 0; i < count; i++) {
        if (fds[i].fd >= 0 && !descriptor_is_simulated(fds[i].fd)) {
            return __real_poll(fds, count, timeout);
        }
    }
    return descriptors_poll(fds, count, until(timeout));
}

int __wrap_ppoll(struct pollfd *fds, nfds_t count, const struct timespec *timeout, const sigset_t *mask)
{
    (void) mask;
    return descriptors_poll(fds, count,
                            NULL == timeout ? UINT64_MAX
                                            : world_now() + (uint64_t) timeout->tv_sec * OC_SECOND
                                                  + (uint64_t) timeout->tv_nsec);
}

int __wrap_clock_gettime(clockid_t clock, struct timespec *time)
{
    uint64_t now = world_look();

    (void) clock;
    *time = (struct timespec) {.tv_sec = (time_t) (now / OC_SECOND), .tv_nsec = (long) (now % OC_SECOND)};
    return 0;
}

int __wrap_sched_yield(void)
{
    fiber_pause(2000 + world_random(8000));
    return 0;
}

ssize_t __wrap_getrandom(void *bytes, size_t length, unsigned flags)
{
    (void) flags;
    for (size_t i = 0; i < length; i++) {
        ((uint8_t *) bytes)[i] = (uint8_t) world_random(256);
    }
    return (ssize_t) length;
}

/* ---- threads ---- */

int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *), void *arg)
{
    (void) attributes;
    *thread = (pthread_t) fiber_start(process_self(), run, arg);
    return 0;
}

int __wrap_pthread_join(pthread_t thread, void **result)
{
    void *value = fiber_join((fiber_t *) thread);

    if (NULL != result) {
        *result = value;
    }
    return 0;
}

int __wrap_pthread_detach(pthread_t thread)
{
    (void) thread;
    return 0;
}

int __wrap_pthread_setname_np(pthread_t thread, const char *name)
{
    (void) thread;
    (void) name;
    return 0;
}

/* All fibers are one thread of the system, which must never wait. */
int __wrap_pthread_mutex_lock(pthread_mutex_t *mutex)
{
    fiber_preempt();
    while (0 != pthread_mutex_trylock(mutex)) {
        if (NULL == process_self()) {
            world_fail("a lock is taken that a fiber has");
        }
        fiber_pause(1000 + world_random(4000));
    }
    return 0;
}

int __wrap_pthread_mutex_unlock(pthread_mutex_t *mutex)
{
    int status = __real_pthread_mutex_unlock(mutex);

    fiber_preempt();
    return status;
}

int __wrap_sched_setaffinity(pid_t process, size_t size, const cpu_set_t *set)
{
    (void) process;
    (void) size;
    (void) set;
    return 0;
}

/* ---- interfaces ---- */

typedef struct {
    struct ifaddrs interface;
    struct sockaddr_in address;
    char name[8];
} interface_t;

int __wrap_getifaddrs(struct ifaddrs **interfaces)
{
    interface_t *only = memory_new(sizeof(*only));

    strcpy(only->name, "sim0");
    only->address = (struct sockaddr_in) {.sin_family = AF_INET,
                                          .sin_addr.s_addr = htonl(host_address(process_self()->host))};
    only->interface = (struct ifaddrs) {.ifa_name = only->name, .ifa_flags = IFF_UP | IFF_RUNNING,
                                        .ifa_addr = (struct sockaddr *) &only->address};
    *interfaces = &only->interface;
    return 0;
}

void __wrap_freeifaddrs(struct ifaddrs *interfaces)
{
    free(interfaces);
}
