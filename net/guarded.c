/* SPDX-License-Identifier: BSD-3-Clause */
/* Filters at single sockets. */
#include "net/guarded.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>

static int guarded_attach(int fd, struct sock_filter *code, size_t length)
{
    struct sock_fprog program = {.len = (unsigned short) length, .filter = code};

    return 0 == setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof(program)) ? 0
                                                                                       : errno;
}

oc_guarded_t *oc_guarded_new(int fd, int *error)
{
    oc_guarded_t *guarded = calloc(1, sizeof(*guarded));
    socklen_t length = sizeof(guarded->family);

    if (NULL == guarded) {
        *error = ENOMEM;
        return NULL;
    }
    if (0 != getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &guarded->family, &length)) {
        *error = errno;
        free(guarded);
        return NULL;
    }
    guarded->fd = fd;
    return guarded;
}

int oc_guarded_filter(oc_guarded_t *guarded, struct sock_filter *code, size_t length)
{
    int error = guarded_attach(guarded->fd, code, length);

    guarded->filtered = guarded->filtered || 0 == error;
    return error;
}

int oc_socket_shut(int fd)
{
    struct sock_filter nobody = {.code = BPF_RET | BPF_K};

    return guarded_attach(fd, &nobody, 1);
}
