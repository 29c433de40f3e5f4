/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The caller's memory, of hosts or of devices, while one rank of each host multicasts for all of
 * its host. What a device could not read or write shows in its stage (relay_watch.h). Callers hold
 * the lock of the client.
 */
#ifndef OC_CLIENT_GROUP_RELAY_BUFFERS_H
#define OC_CLIENT_GROUP_RELAY_BUFFERS_H

#include "client/state/types.h"

/* Bytes for the caller's receive buffer, from this offset. */
void oc_relay_write_out(const oc_relay_t *relay, size_t offset, size_t length, const uint8_t *from);

/* A part of this rank's own block, from these bytes of it. */
void oc_relay_read_in(const oc_relay_t *relay, size_t at, size_t length, void *to);

/* A part of the packed vector for the receive buffer, but for this rank's own block. */
void oc_relay_scatter(const oc_relay_t *relay, size_t at, size_t length, const uint8_t *from);

/* Copies this rank's own block into its receive buffer, unless it is in place there. */
void oc_relay_keep_own(const oc_relay_t *relay);

#endif
