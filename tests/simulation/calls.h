/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * System calls of the code under test, which the linker leads here (--wrap): in virtual time, between simulated hosts.
 * Descriptors of the system itself go on to it.
 */
#ifndef OC_TESTS_SIMULATION_CALLS_H
#define OC_TESTS_SIMULATION_CALLS_H

#include <ifaddrs.h>
#include <poll.h>
#include <pthread.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

int __wrap_socket(int domain, int type, int protocol);
int __wrap_bind(int fd, const struct sockaddr *address, socklen_t length);
int __wrap_listen(int fd, int backlog);
int __wrap_connect(int fd, const struct sockaddr *address, socklen_t length);
int __wrap_accept4(int fd, struct sockaddr *address, socklen_t *length, int flags);
int __wrap_getsockname(int fd, struct sockaddr *address, socklen_t *length);
int __wrap_getpeername(int fd, struct sockaddr *address, socklen_t *length);
int __wrap_getsockopt(int fd, int level, int option, void *value, socklen_t *length);
int __wrap_setsockopt(int fd, int level, int option, const void *value, socklen_t length);
int __wrap_shutdown(int fd, int how);
ssize_t __wrap_send(int fd, const void *bytes, size_t length, int flags);
ssize_t __wrap_sendto(int fd, const void *bytes, size_t length, int flags, const struct sockaddr *to, socklen_t to_length);
ssize_t __wrap_recv(int fd, void *bytes, size_t length, int flags);
int __wrap_ioctl(int fd, unsigned long command, ...);
ssize_t __wrap_read(int fd, void *bytes, size_t length);
ssize_t __wrap_write(int fd, const void *bytes, size_t length);
int __wrap_close(int fd);
int __wrap_fcntl(int fd, int command, ...);
int __wrap_eventfd(unsigned count, int flags);
int __wrap_eventfd_write(int fd, uint64_t count);
int __wrap_timerfd_create(int clock, int flags);
int __wrap_timerfd_settime(int fd, int flags, const struct itimerspec *value, struct itimerspec *old);
int __wrap_epoll_create1(int flags);
int __wrap_epoll_ctl(int fd, int op, int target, struct epoll_event *event);
int __wrap_epoll_wait(int fd, struct epoll_event *events, int most, int timeout);
int __wrap_poll(struct pollfd *fds, nfds_t count, int timeout);
int __wrap_ppoll(struct pollfd *fds, nfds_t count, const struct timespec *timeout, const sigset_t *mask);
int __wrap_clock_gettime(clockid_t clock, struct timespec *time);
ssize_t __wrap_getrandom(void *bytes, size_t length, unsigned flags);
int __wrap_sched_yield(void);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *), void *arg);
int __wrap_pthread_join(pthread_t thread, void **result);
int __wrap_pthread_detach(pthread_t thread);
int __wrap_pthread_setname_np(pthread_t thread, const char *name);
int __wrap_pthread_mutex_lock(pthread_mutex_t *mutex);
int __wrap_pthread_mutex_unlock(pthread_mutex_t *mutex);
int __wrap_sched_setaffinity(pid_t process, size_t size, const cpu_set_t *set);
int __wrap_getifaddrs(struct ifaddrs **interfaces);
void __wrap_freeifaddrs(struct ifaddrs *interfaces);

/* The system's. */
int __real_socket(int domain, int type, int protocol);
int __real_bind(int fd, const struct sockaddr *address, socklen_t length);
int __real_connect(int fd, const struct sockaddr *address, socklen_t length);
int __real_getsockname(int fd, struct sockaddr *address, socklen_t *length);
int __real_getpeername(int fd, struct sockaddr *address, socklen_t *length);
int __real_getsockopt(int fd, int level, int option, void *value, socklen_t *length);
int __real_setsockopt(int fd, int level, int option, const void *value, socklen_t length);
int __real_ioctl(int fd, unsigned long command, ...);
int __real_fcntl(int fd, int command, ...);
ssize_t __real_send(int fd, const void *bytes, size_t length, int flags);
ssize_t __real_recv(int fd, void *bytes, size_t length, int flags);
ssize_t __real_read(int fd, void *bytes, size_t length);
ssize_t __real_write(int fd, const void *bytes, size_t length);
int __real_close(int fd);
int __real_poll(struct pollfd *fds, nfds_t count, int timeout);
int __real_pthread_mutex_unlock(pthread_mutex_t *mutex);

#endif
