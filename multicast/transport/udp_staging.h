/* SPDX-License-Identifier: BSD-3-Clause */
/* How many datagrams the kernel keeps for a socket that nobody reads. Any thread. */
#ifndef OC_MULTICAST_TRANSPORT_UDP_STAGING_H
#define OC_MULTICAST_TRANSPORT_UDP_STAGING_H

#include <stddef.h>
#include <stdint.h>

/*
 * Asks the kernel for so many bytes, and says in the log if it gives less. Returns how many
 * datagrams of a size it keeps for sure.
 */
uint32_t oc_udp_staging_set(int fd, size_t bytes, size_t datagram_size);

/* What it would be for a new socket; 0: there is none to be had. Says nothing. */
uint32_t oc_udp_staging_expect(size_t bytes, size_t datagram_size);

#endif
