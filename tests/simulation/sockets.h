/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Descriptors of simulated processes: TCP sockets between hosts, events, timers, epoll. Their numbers are beyond those of
 * the system, and are never used twice: to use one that is closed, or another process's, fails the schedule. errno is set
 * as by the system calls.
 */
#ifndef OC_TESTS_SIMULATION_SOCKETS_H
#define OC_TESTS_SIMULATION_SOCKETS_H

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include "tests/simulation/world.h"

#define FIRST_SIMULATED (1 << 16)

/* IPv4 address of a host, in its byte order. */
uint32_t host_address(unsigned number);

int descriptor_event(unsigned count);
int descriptor_timer(void);
int descriptor_epoll(void);
/* Of SOCK_STREAM, or of SOCK_DGRAM, which only finds a way. */
int descriptor_stream(int family, int type);
/* Readable as long as is_readable says so. */
int descriptor_of(bool (*is_readable)(void *thing), void *thing);

/* Whether it is one of these. */
bool descriptor_is_simulated(int fd);
/* Another number of the same. */
int descriptor_again(int fd);
void descriptor_close(int fd);

/* Of events and timers: 8 bytes, or EAGAIN. */
bool descriptor_read(int fd, uint64_t *count);
void descriptor_add(int fd, uint64_t count);
void descriptor_set_timer(int fd, uint64_t ns);

int epoll_change(int fd, int op, int target, const struct epoll_event *event);
int epoll_fetch(int fd, struct epoll_event *events, int most, uint64_t until);

/* The time until which they wait; 0: not at all. */
int descriptors_poll(struct pollfd *fds, nfds_t count, uint64_t until);

/* Local sockets of datagrams, which are all empty: a bell is rung by its address, by processes of its host. */
int bell_new(void);
int bell_bind(int fd, const struct sockaddr *address, socklen_t length);
bool bell_is_there(const struct sockaddr *address, socklen_t length);
ssize_t bell_ring(const struct sockaddr *address, socklen_t length);
ssize_t bell_hear(int fd);
bool descriptor_is_bell(int fd);

int stream_bind(int fd, const struct sockaddr *address);
int stream_listen(int fd);
int stream_connect(int fd, const struct sockaddr *address);
int stream_accept(int fd, struct sockaddr *from, socklen_t *length);
ssize_t stream_send(int fd, const void *bytes, size_t length);
ssize_t stream_receive(int fd, void *bytes, size_t length);
/* how: as of shutdown. */
int stream_shut(int fd, int how);
/* Whether all that was sent has arrived. */
bool stream_has_arrived(int fd);
int stream_error(int fd);
/* Of the own end, or the other. */
int stream_name(int fd, bool other, struct sockaddr *address, socklen_t *length);

/* All that a process has: as the system does after its death, or never if its host is without power. */
void descriptors_drop(process_t *process);

#endif
