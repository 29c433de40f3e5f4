/* SPDX-License-Identifier: BSD-3-Clause */
/* TCP sockets: listening and connecting, never blocking. */
#ifndef OC_NET_SOCKET_H
#define OC_NET_SOCKET_H

#include "net/address.h"

/*
 * A listening, nonblocking socket; port 0 in address: any, and address is updated to what was
 * taken. -1 on failure, with a sentence in error.
 */
int oc_listen(oc_sockaddr_t *address, char *error, size_t error_size);

/* A nonblocking socket whose connect is under way or done; -1 with errno set on failure. */
int oc_connect_start(const oc_sockaddr_t *address);

/* Makes an accepted or connected socket nonblocking, quick, and able to notice a dead host. */
void oc_socket_prepare(int fd);

#endif
