/* SPDX-License-Identifier: BSD-3-Clause */
/* A listening socket and the filter at it. It is somebody else's, who may not know of this. */
#ifndef OC_NET_GUARDED_H
#define OC_NET_GUARDED_H

#include <linux/filter.h>
#include <stdbool.h>
#include <stddef.h>

/* In a list of its owner. */
typedef struct oc_guarded {
    int fd, family;
    bool filtered;              /* a filter is on, be it an old one */
    bool open;                  /* the kernel has refused the first one: there will be none */
    struct oc_guarded *prev, *next;
} oc_guarded_t;

/*
 * Without a filter yet. NULL, with the errno in *error: the descriptor is no socket, or there is no
 * memory.
 */
oc_guarded_t *oc_guarded_new(int fd, int *error);

/* Puts a program there, in place of the old one: 0, or an errno, and nothing has changed. */
int oc_guarded_filter(oc_guarded_t *guarded, struct sock_filter *code, size_t length);

/* Lets nobody connect to the socket, if the kernel has memory for that: 0, or an errno. */
int oc_socket_shut(int fd);

#endif
