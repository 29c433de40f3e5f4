/* SPDX-License-Identifier: BSD-3-Clause */
/* Asks the kernel for the attributes of a link. */
#include "multicast/transport/piece.h"

#include <linux/rtnetlink.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>

#include "base/descriptors.h"

#define USUAL       65536u
#define ANSWER_SIZE 16384u

typedef struct {
    struct nlmsghdr header;
    struct ifinfomsg link;
} request_t;

/* Bytes of the answer; not positive: there is none. */
static ssize_t ask_kernel(int fd, unsigned index, void *answer, size_t size)
{
    const request_t request = {
        .header = {.nlmsg_len = sizeof(request), .nlmsg_type = RTM_GETLINK, .nlmsg_flags = NLM_F_REQUEST},
        .link = {.ifi_family = AF_UNSPEC, .ifi_index = (int) index}};

    if ((ssize_t) sizeof(request) != send(fd, &request, sizeof(request), 0)) {
        return -1;
    }
    return recv(fd, answer, size, 0); /* the kernel has answered when send returns */
}

/* 0: it is not there. */
static uint32_t find_size(const struct nlmsghdr *header, size_t length)
{
    struct rtattr *attribute;
    uint32_t size = 0;
    int left;

    if (!NLMSG_OK(header, length) || RTM_NEWLINK != header->nlmsg_type) {
        return 0;
    }
    attribute = IFLA_RTA(NLMSG_DATA(header));
    left = (int) IFLA_PAYLOAD(header);
    for (; RTA_OK(attribute, left); attribute = RTA_NEXT(attribute, left)) {
        if (IFLA_GSO_MAX_SIZE == attribute->rta_type && sizeof(size) == RTA_PAYLOAD(attribute)) {
            memcpy(&size, RTA_DATA(attribute), sizeof(size));
        }
    }
    return size;
}

size_t oc_interface_piece(const oc_interface_t *interface)
{
    union {
        struct nlmsghdr header;
        char bytes[ANSWER_SIZE];
    } answer;
    int fd = oc_fd_make(socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_ROUTE));
    ssize_t length = fd < 0 ? -1 : ask_kernel(fd, interface->index, &answer, sizeof(answer));
    uint32_t size = length > 0 ? find_size(&answer.header, (size_t) length) : 0;

    if (fd >= 0) {
        oc_fd_close(fd);
    }
    return 0 != size ? size : USUAL;
}
