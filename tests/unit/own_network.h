/* SPDX-License-Identifier: BSD-3-Clause */
/* A network namespace for a test: it finds the same everywhere, and disturbs nothing. */
#ifndef OC_TESTS_OWN_NETWORK_H
#define OC_TESTS_OWN_NETWORK_H

#include <errno.h>
#include <net/if.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#define OWN_NETWORK_SKIPPED 77

/* false: the interface cannot be asked or changed. */
static inline bool own_network_flags(const char *name, short set, short clear)
{
    struct ifreq request = {0};
    int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    bool done;

    snprintf(request.ifr_name, sizeof(request.ifr_name), "%s", name);
    done = fd >= 0 && 0 == ioctl(fd, SIOCGIFFLAGS, &request);
    request.ifr_flags = (short) ((request.ifr_flags | set) & ~clear);
    done = done && 0 == ioctl(fd, SIOCSIFFLAGS, &request);
    if (fd >= 0) {
        close(fd);
    }
    return done;
}

static inline bool own_network_mtu(const char *name, int mtu)
{
    struct ifreq request = {.ifr_mtu = mtu};
    int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    bool done;

    snprintf(request.ifr_name, sizeof(request.ifr_name), "%s", name);
    done = fd >= 0 && 0 == ioctl(fd, SIOCSIFMTU, &request);
    if (fd >= 0) {
        close(fd);
    }
    if (!done) {
        printf("SKIP: cannot set the MTU of %s: %s\n", name, strerror(errno));
    }
    return done;
}

/* As root of a user namespace: who is nobody there cannot start programs that have to be root. */
static inline bool own_network_unshare_user(void)
{
    unsigned uid = geteuid();
    FILE *map;

    if (0 != unshare(CLONE_NEWUSER | CLONE_NEWNET)) {
        return false;
    }
    map = fopen("/proc/self/uid_map", "we");
    return NULL != map && fprintf(map, "0 %u 1", uid) > 0 && 0 == fclose(map);
}

/* Enters a network that has a loopback only, with multicast. false: says why not. */
static inline bool own_network_enter(void)
{
    if (0 != unshare(CLONE_NEWNET) && !own_network_unshare_user()) {
        printf("SKIP: no network namespace for the test: %s\n", strerror(errno));
        return false;
    }
    if (!own_network_flags("lo", IFF_UP | IFF_MULTICAST, 0)) {
        printf("SKIP: cannot set the loopback up: %s\n", strerror(errno));
        return false;
    }
    return true;
}

#endif
