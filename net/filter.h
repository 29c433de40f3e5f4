/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * From a set of addresses to a program of classic BPF that keeps packets of these sources and drops
 * all others. Pure: nothing is attached here.
 */
#ifndef OC_NET_FILTER_H
#define OC_NET_FILTER_H

#include <linux/filter.h>
#include <stddef.h>

#include "net/host_set.h"

/* The kernel takes no longer ones. */
#define OC_FILTER_MAX BPF_MAXINSNS

/*
 * For sockets of AF_INET, or of AF_INET6, which may get packets of both. How many of at most max
 * instructions it has; 0: it would be longer.
 */
size_t oc_filter_make(const oc_host_set_t *set, int family, struct sock_filter *program,
                      size_t max);

#endif
