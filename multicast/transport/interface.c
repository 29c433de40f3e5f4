/* SPDX-License-Identifier: BSD-3-Clause */
/* Looks interfaces up among the host's IPv4 addresses: who has none cannot send IPv4 multicast. */
#include "multicast/transport/interface.h"

#include <arpa/inet.h>
#include <errno.h>
#include <ifaddrs.h>
#include <net/if_arp.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define ANY_PORT 9 /* nothing is sent there: a route is only asked for with a port */

typedef bool match_fn_t(const struct ifaddrs *one, const void *what);

static const struct in_addr *interface_address_of(const struct ifaddrs *one)
{
    if (NULL == one->ifa_addr || AF_INET != one->ifa_addr->sa_family) {
        return NULL;
    }
    return &((const struct sockaddr_in *) one->ifa_addr)->sin_addr;
}

/* The loopback takes multicast though it does not say so. */
static bool is_usable(const struct ifaddrs *one)
{
    return NULL != interface_address_of(one) && 0 != (one->ifa_flags & IFF_UP)
           && 0 != (one->ifa_flags & (IFF_MULTICAST | IFF_LOOPBACK));
}

static bool has_name(const struct ifaddrs *one, const void *what)
{
    return 0 == strcmp(one->ifa_name, what);
}

static bool has_address(const struct ifaddrs *one, const void *what)
{
    const struct in_addr *wanted = what;

    return NULL != interface_address_of(one) && interface_address_of(one)->s_addr == wanted->s_addr;
}

static bool is_running(const struct ifaddrs *one, const void *what)
{
    (void) what;
    return 0 != (one->ifa_flags & IFF_RUNNING) && 0 == (one->ifa_flags & IFF_LOOPBACK);
}

static bool is_loopback(const struct ifaddrs *one, const void *what)
{
    (void) what;
    return 0 != (one->ifa_flags & IFF_LOOPBACK);
}

/*
 * The first one that matches; one that cannot be used only if there is no other, and one without
 * an IPv4 address, as all have in the list beside, only at last.
 */
static const struct ifaddrs *interface_find(const struct ifaddrs *all, match_fn_t *match,
                                            const void *what)
{
    const struct ifaddrs *useless = NULL;

    for (const struct ifaddrs *one = all; NULL != one; one = one->ifa_next) {
        if (match(one, what)) {
            if (is_usable(one)) {
                return one;
            }
            useless = NULL == useless || NULL == interface_address_of(useless) ? one : useless;
        }
    }
    return useless;
}

/* The address that this host would send from. */
static bool route(struct in_addr group, struct in_addr *from)
{
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_addr = group, .sin_port = htons(ANY_PORT)};
    struct sockaddr_in own = {0};
    socklen_t length = sizeof(own);
    int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    bool found = fd >= 0 && 0 == connect(fd, (struct sockaddr *) &to, sizeof(to))
                 && 0 == getsockname(fd, (struct sockaddr *) &own, &length);

    if (fd >= 0) {
        close(fd);
    }
    *from = own.sin_addr;
    return found;
}

static const struct ifaddrs *interface_choose(const struct ifaddrs *all, struct in_addr group)
{
    const struct ifaddrs *one = NULL;
    struct in_addr from;

    if (route(group, &from)) {
        one = interface_find(all, has_address, &from);
    }
    if (NULL == one || !is_usable(one)) {
        one = interface_find(all, is_running, NULL);
    }
    if (NULL == one || !is_usable(one)) {
        one = interface_find(all, is_loopback, NULL);
    }
    return one;
}

/* "lo (127.0.0.1), eth0 (10.0.0.1)" */
static void list_usable(const struct ifaddrs *all, char *buffer, size_t size)
{
    size_t used = 0;

    snprintf(buffer, size, "none");
    for (const struct ifaddrs *one = all; NULL != one && used < size; one = one->ifa_next) {
        char address[INET_ADDRSTRLEN];

        if (is_usable(one)) {
            inet_ntop(AF_INET, interface_address_of(one), address, sizeof(address));
            used += (size_t) snprintf(buffer + used, size - used, "%s%s (%s)",
                                      used > 0 ? ", " : "", one->ifa_name, address);
        }
    }
}

static const char *what_is_wrong(const struct ifaddrs *one)
{
    if (NULL == one) {
        return "is not there";
    }
    if (0 == (one->ifa_flags & IFF_UP)) {
        return "is down";
    }
    return NULL == interface_address_of(one) ? "has no IPv4 address" : "cannot do multicast";
}

static oc_status_t interface_take(const struct ifaddrs *one, oc_interface_t *result, char *error,
                                  size_t error_size)
{
    struct ifreq request = {0};
    int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    int rc;

    snprintf(result->name, sizeof(result->name), "%s", one->ifa_name);
    snprintf(request.ifr_name, sizeof(request.ifr_name), "%s", one->ifa_name);
    result->address = *interface_address_of(one);
    result->index = if_nametoindex(one->ifa_name);
    rc = fd < 0 ? -1 : ioctl(fd, SIOCGIFMTU, &request);
    if (0 != rc || 0 == result->index) {
        snprintf(error, error_size, "cannot ask the network interface \"%s\" for its MTU: %s",
                 one->ifa_name, strerror(errno));
        rc = -1;
    } else {
        result->mtu = (unsigned) request.ifr_mtu;
    }
    if (fd >= 0) {
        close(fd);
    }
    return 0 == rc ? OC_OK : OC_ERR_SYSTEM;
}

oc_status_t oc_interface_find(const char *text, struct in_addr group, oc_interface_t *result,
                              char *error, size_t error_size)
{
    const struct ifaddrs *one;
    struct ifaddrs *all;
    struct in_addr address;
    oc_status_t status;
    char names[256];

    if (0 != getifaddrs(&all)) {
        snprintf(error, error_size, "cannot list the network interfaces: %s", strerror(errno));
        return OC_ERR_SYSTEM;
    }
    if (NULL == text || '\0' == text[0]) {
        one = interface_choose(all, group);
        text = NULL == one ? "lo" : one->ifa_name;
    } else if (1 == inet_pton(AF_INET, text, &address)) {
        one = interface_find(all, has_address, &address);
    } else {
        one = interface_find(all, has_name, text);
    }
    if (NULL != one && is_usable(one)) {
        status = interface_take(one, result, error, error_size);
    } else {
        list_usable(all, names, sizeof(names));
        snprintf(error, error_size, "the network interface \"%s\" %s; there are for multicast: %s",
                 text, what_is_wrong(one), names);
        status = OC_ERR_INVALID;
    }
    freeifaddrs(all);
    return status;
}

bool oc_interface_floods(const oc_interface_t *interface)
{
    struct ifreq request = {0};
    int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    bool known;

    memcpy(request.ifr_name, interface->name, sizeof(request.ifr_name));
    known = fd >= 0 && 0 == ioctl(fd, SIOCGIFHWADDR, &request);
    if (fd >= 0) {
        close(fd);
    }
    return !known || (ARPHRD_INFINIBAND != request.ifr_hwaddr.sa_family
                      && ARPHRD_LOOPBACK != request.ifr_hwaddr.sa_family);
}
