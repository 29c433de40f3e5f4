/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Owns a kernel without offloads of UDP: preloaded, it refuses UDP_SEGMENT and UDP_GRO as kernels
 * older than 4.18 and 5.0 do.
 */
#include <dlfcn.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/socket.h>

enum { SEGMENT = 103, GRO = 104 }; /* older than their names in the C library's headers */

static bool refused(int level, int option)
{
    return IPPROTO_UDP == level && (SEGMENT == option || GRO == option);
}

int getsockopt(int fd, int level, int option, void *restrict value, socklen_t *restrict length)
{
    static int (*next)(int, int, int, void *, socklen_t *);

    if (refused(level, option)) {
        errno = ENOPROTOOPT;
        return -1;
    }
    if (NULL == next) {
        *(void **) &next = dlsym(RTLD_NEXT, "getsockopt");
    }
    return next(fd, level, option, value, length);
}

int setsockopt(int fd, int level, int option, const void *value, socklen_t length)
{
    static int (*next)(int, int, int, const void *, socklen_t);

    if (refused(level, option)) {
        errno = ENOPROTOOPT;
        return -1;
    }
    if (NULL == next) {
        *(void **) &next = dlsym(RTLD_NEXT, "setsockopt");
    }
    return next(fd, level, option, value, length);
}
