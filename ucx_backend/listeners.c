/* SPDX-License-Identifier: BSD-3-Clause */
/* Looking through the descriptors of the process. */
#include "ucx_backend/listeners.h"

#include <dirent.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/*
 * The descriptors are other threads', too, and may be closed at any moment: only their names in
 * /proc are looked at here.
 */
static bool is_socket(int folder, const char *name, ino_t *inode)
{
    char target[64];
    ssize_t length = readlinkat(folder, name, target, sizeof(target) - 1);
    unsigned long number;

    if (length <= 0) {
        return false;
    }
    target[length] = '\0';
    if (1 != sscanf(target, "socket:[%lu]", &number)) {
        return false;
    }
    *inode = (ino_t) number;
    return true;
}

/* visit gets a socket's descriptor and inode; false: it ends here. Returns 0, or an errno. */
static int for_each_socket(bool (*visit)(void *arg, int fd, ino_t inode), void *arg)
{
    DIR *folder = opendir("/proc/self/fd");
    struct dirent *entry;
    bool more = true;
    ino_t inode;

    if (NULL == folder) {
        return errno;
    }
    while (more && NULL != (entry = readdir(folder))) {
        if (is_socket(dirfd(folder), entry->d_name, &inode)) {
            more = visit(arg, atoi(entry->d_name), inode);
        }
    }
    closedir(folder);
    return more ? 0 : ENOMEM;
}

static bool remember(void *arg, int fd, ino_t inode)
{
    oc_sockets_t *before = arg;
    size_t capacity = 0 == before->capacity ? 64 : 2 * before->capacity;
    ino_t *grown;

    (void) fd;
    if (before->count == before->capacity) {
        grown = realloc(before->sockets, capacity * sizeof(*grown));
        if (NULL == grown) {
            return false;
        }
        before->sockets = grown;
        before->capacity = capacity;
    }
    before->sockets[before->count++] = inode;
    return true;
}

static int listeners_compare(const void *a, const void *b)
{
    ino_t first = *(const ino_t *) a, second = *(const ino_t *) b;

    return (first > second) - (first < second);
}

void oc_sockets_remember(oc_sockets_t *before)
{
    *before = (oc_sockets_t) {0};
    before->error = for_each_socket(remember, before);
    if (before->count > 0) {
        qsort(before->sockets, before->count, sizeof(*before->sockets), listeners_compare);
    }
}

void oc_sockets_forget(oc_sockets_t *before)
{
    free(before->sockets);
    *before = (oc_sockets_t) {0};
}

typedef struct {
    const oc_sockets_t *before;
    const void *address;
    size_t length;
    oc_listeners_t *found;
} search_t;

static bool has(int fd, int option, int value)
{
    socklen_t length = sizeof(int);
    int is = 0;

    return 0 == getsockopt(fd, SOL_SOCKET, option, &is, &length) && value == is;
}

/* For connections of TCP. */
static bool listens(int fd)
{
    return has(fd, SO_ACCEPTCONN, 1)
           && (has(fd, SO_DOMAIN, AF_INET) || has(fd, SO_DOMAIN, AF_INET6));
}

static bool contains(const search_t *search, const void *bytes, size_t length)
{
    return NULL != memmem(search->address, search->length, bytes, length);
}

/* Of loopback, the worker's address has the port alone. */
static bool is_in_address(const search_t *search, int fd)
{
    struct sockaddr_storage name;
    const struct sockaddr_in *in = (const struct sockaddr_in *) &name;
    const struct sockaddr_in6 *in6 = (const struct sockaddr_in6 *) &name;
    socklen_t length = sizeof(name);

    if (0 != getsockname(fd, (struct sockaddr *) &name, &length)) {
        return false;
    }
    if (AF_INET == name.ss_family) {
        return contains(search, &in->sin_port, sizeof(in->sin_port))
               && (IN_LOOPBACKNET == ntohl(in->sin_addr.s_addr) >> IN_CLASSA_NSHIFT
                   || contains(search, &in->sin_addr, sizeof(in->sin_addr)));
    }
    return AF_INET6 == name.ss_family
           && contains(search, &in6->sin6_port, sizeof(in6->sin6_port))
           && (IN6_IS_ADDR_LOOPBACK(&in6->sin6_addr)
               || contains(search, &in6->sin6_addr, sizeof(in6->sin6_addr)));
}

static bool consider(void *arg, int fd, ino_t inode)
{
    const search_t *search = arg;
    oc_listeners_t *found = search->found;
    int *grown;

    if ((search->before->count > 0
         && NULL != bsearch(&inode, search->before->sockets, search->before->count,
                            sizeof(inode), listeners_compare))
        || !listens(fd)) {
        return true;
    }
    if (!is_in_address(search, fd)) {
        found->unknown++;
        return true;
    }
    grown = realloc(found->fds, (found->count + 1) * sizeof(*grown));
    if (NULL == grown) {
        return false;
    }
    found->fds = grown;
    found->fds[found->count++] = fd;
    return true;
}

void oc_listeners_find(const oc_sockets_t *before, const void *address, size_t length,
                       oc_listeners_t *listeners)
{
    search_t search = {before, address, length, listeners};

    *listeners = (oc_listeners_t) {.error = before->error};
    if (0 == before->error) {
        listeners->error = for_each_socket(consider, &search);
    }
}
