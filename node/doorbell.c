/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A bell is a datagram socket with an abstract address: nothing is left in any file system. When
 * its queue is full it has been rung already, so a ring that does not fit there is not lost. But
 * rings that nobody has heard yet also fill the buffer of the socket that sent them, wherever they
 * went, and the error is the same: then another socket tries, whose buffer is empty.
 */
#include "node/doorbell.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/descriptors.h"

struct oc_doorbell {
    int fd;
    uint8_t name[OC_DOORBELL_NAME_SIZE];
};

static socklen_t doorbell_address_of(const uint8_t *name, struct sockaddr_un *address)
{
    /* abstract: the first byte of the path is zero, and its length counts */
    int length = snprintf(address->sun_path + 1, sizeof(address->sun_path) - 1, "optcast-");
    char *at = address->sun_path + 1 + length;

    address->sun_family = AF_UNIX;
    address->sun_path[0] = '\0';
    for (int i = 0; i < OC_DOORBELL_NAME_SIZE; i++) {
        at += sprintf(at, "%02x", name[i]);
    }
    return (socklen_t) (at - (char *) address);
}

static bool hang_up(oc_doorbell_t *bell)
{
    struct sockaddr_un address;

    bell->fd = oc_fd_make(socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    return bell->fd >= 0
           && OC_DOORBELL_NAME_SIZE == getrandom(bell->name, OC_DOORBELL_NAME_SIZE, 0)
           && 0 == bind(bell->fd, (struct sockaddr *) &address,
                        doorbell_address_of(bell->name, &address));
}

oc_status_t oc_doorbell_open(oc_doorbell_t **result, char *error, size_t error_size)
{
    oc_doorbell_t *bell = calloc(1, sizeof(*bell));

    if (NULL == bell) {
        snprintf(error, error_size, "out of memory");
        return OC_ERR_NO_MEMORY;
    }
    bell->fd = -1;
    if (!hang_up(bell)) {
        snprintf(error, error_size, "no socket to be woken by: %s", strerror(errno));
        oc_doorbell_close(bell);
        return OC_ERR_SYSTEM;
    }
    *result = bell;
    return OC_OK;
}

void oc_doorbell_close(oc_doorbell_t *bell)
{
    if (NULL != bell && bell->fd >= 0) {
        oc_fd_close(bell->fd);
    }
    free(bell);
}

void oc_doorbell_name(const oc_doorbell_t *bell, uint8_t name[OC_DOORBELL_NAME_SIZE])
{
    memcpy(name, bell->name, OC_DOORBELL_NAME_SIZE);
}

int oc_doorbell_fd(const oc_doorbell_t *bell)
{
    return bell->fd;
}

bool oc_doorbell_listen(oc_doorbell_t *bell)
{
    /* a queue holds few: a stranger who keeps ringing does not keep anybody here */
    int limit = 64, rings = 0;
    char nothing;

    while (rings < limit && recv(bell->fd, &nothing, sizeof(nothing), MSG_DONTWAIT) >= 0) {
        rings++;
    }
    return rings > 0;
}

oc_status_t oc_doorbell_find(const uint8_t name[OC_DOORBELL_NAME_SIZE])
{
    struct sockaddr_un address;
    socklen_t length = doorbell_address_of(name, &address);
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    bool found = fd >= 0 && 0 == connect(fd, (struct sockaddr *) &address, length);

    if (fd >= 0) {
        close(fd);
    }
    return found ? OC_OK : OC_ERR_UNREACHABLE;
}

static oc_status_t send_ring(int fd, const uint8_t *name)
{
    struct sockaddr_un address;
    socklen_t length = doorbell_address_of(name, &address);

    if (sendto(fd, "", 0, MSG_DONTWAIT | MSG_NOSIGNAL, (struct sockaddr *) &address, length) >= 0) {
        return OC_OK;
    }
    return EAGAIN == errno || ENOBUFS == errno ? OC_IN_PROGRESS : OC_ERR_UNREACHABLE;
}

oc_status_t oc_doorbell_ring(const oc_doorbell_t *own, const uint8_t name[OC_DOORBELL_NAME_SIZE])
{
    oc_status_t status = send_ring(own->fd, name);
    int fd;

    if (OC_IN_PROGRESS != status) {
        return status;
    }
    fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0) {
        return OC_IN_PROGRESS;
    }
    status = send_ring(fd, name);
    close(fd);
    /* nothing was in its way but the bell's own queue, so that is full */
    return OC_IN_PROGRESS == status ? OC_OK : status;
}
