/* SPDX-License-Identifier: BSD-3-Clause */
/* Owns local sockets, by which processes of a host wake each other. */
#include <errno.h>
#include <string.h>

#include "tests/simulation/sockets_types.h"

/* As many wait at most, as in the queue of the system. */
#define QUEUE 10

int bell_new(void)
{
    return descriptor_new(DESCRIPTOR_BELL)->number;
}

bool descriptor_is_bell(int fd)
{
    return descriptor_is_simulated(fd) && DESCRIPTOR_BELL == descriptor_find(fd)->kind;
}

static descriptor_t *bell_find(const struct sockaddr *address, socklen_t length)
{
    descriptor_t *bell;

    for (unsigned i = 0; NULL != (bell = descriptor_number(i)); i++) {
        if (DESCRIPTOR_BELL == bell->kind && !bell->closed && bell->process->host == process_self()->host
            && length == bell->bell_length && 0 == memcmp(bell->bell, address, length)) {
            return bell;
        }
    }
    errno = ECONNREFUSED;
    return NULL;
}

int bell_bind(int fd, const struct sockaddr *address, socklen_t length)
{
    descriptor_t *bell = descriptor_find(fd);

    if (NULL != bell_find(address, length)) {
        errno = EADDRINUSE;
        return -1;
    }
    memcpy(bell->bell, address, length);
    bell->bell_length = length;
    return 0;
}

bool bell_is_there(const struct sockaddr *address, socklen_t length)
{
    return NULL != bell_find(address, length);
}

ssize_t bell_ring(const struct sockaddr *address, socklen_t length)
{
    descriptor_t *bell = bell_find(address, length);

    if (NULL == bell) {
        return -1;
    }
    if (QUEUE == bell->count) {
        errno = EAGAIN;
        return -1;
    }
    bell->count++;
    process_look(bell->process);
    return 0;
}

ssize_t bell_hear(int fd)
{
    descriptor_t *bell = descriptor_find(fd);

    if (0 == bell->count) {
        errno = EAGAIN;
        return -1;
    }
    bell->count--;
    return 0;
}
