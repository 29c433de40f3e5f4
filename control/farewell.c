/* SPDX-License-Identifier: BSD-3-Clause */
/* How long sockets are kept for what they have said last. */
#include "control/farewell.h"

#include <errno.h>
#include <linux/sockios.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <utlist.h>

#include "base/descriptors.h"

struct oc_farewell {
    int fd;
    struct oc_farewell *prev, *next;
};

static void farewell_free(oc_farewell_t **farewells, oc_farewell_t *farewell)
{
    DL_DELETE(*farewells, farewell);
    oc_fd_close(farewell->fd);
    free(farewell);
}

void oc_farewell_begin(oc_farewell_t **farewells, int fd)
{
    oc_farewell_t *farewell = malloc(sizeof(*farewell));

    (void) shutdown(fd, SHUT_WR);
    if (NULL == farewell) {
        oc_fd_close(fd);
        return;
    }
    farewell->fd = fd;
    DL_APPEND(*farewells, farewell);
}

/* The peer has closed the connection, or it is broken. What it has said does not matter any more. */
static bool is_closed(int fd)
{
    char waste[4096];
    ssize_t got;

    do {
        got = recv(fd, waste, sizeof(waste), MSG_DONTWAIT);
    } while (got > 0);
    return 0 == got || (EAGAIN != errno && EWOULDBLOCK != errno && EINTR != errno);
}

/* All is acknowledged, also that there is no more: a peer that reads finds it, whatever follows. */
static bool has_arrived(int fd)
{
    int unacknowledged;

    return 0 != ioctl(fd, SIOCOUTQ, &unacknowledged) || 0 == unacknowledged;
}

void oc_farewells_look(oc_farewell_t **farewells)
{
    oc_farewell_t *farewell, *next;

    DL_FOREACH_SAFE (*farewells, farewell, next) {
        if (is_closed(farewell->fd) || has_arrived(farewell->fd)) {
            farewell_free(farewells, farewell);
        }
    }
}

void oc_farewells_end(oc_farewell_t **farewells)
{
    while (NULL != *farewells) {
        farewell_free(farewells, *farewells);
    }
}
