/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A turn is a name of a socket that has no file, of which there is one in a network namespace: the
 * kernel takes it back from a process that has died, and nothing is left behind.
 */
#include "server/host/turns.h"

#include <stddef.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "base/descriptors.h"

int oc_turn_take(const char *name, unsigned count)
{
    int fd = oc_fd_make(socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));

    for (unsigned i = 0; fd >= 0 && i < count; i++) {
        struct sockaddr_un own = {.sun_family = AF_UNIX};
        int length = snprintf(own.sun_path + 1, sizeof(own.sun_path) - 1, "optcast-%s-%u", name, i);
        socklen_t size = (socklen_t) (offsetof(struct sockaddr_un, sun_path) + 1 + (size_t) length);

        if (0 == bind(fd, (struct sockaddr *) &own, size)) {
            return fd;
        }
    }
    if (fd >= 0) {
        oc_fd_close(fd);
    }
    return -1;
}
