/* SPDX-License-Identifier: BSD-3-Clause */
/* Large Allreduces: chunks from and into user memory. Under the lock of the client. */
#ifndef OC_CLIENT_COLLECTIVE_LARGE_H
#define OC_CLIENT_COLLECTIVE_LARGE_H

#include "client/state/types.h"

/* OC_ERR_NO_MEMORY or OC_OK. */
oc_status_t oc_large_start(oc_collective_t *collective);
/* Whatever has become of it, and if it was small: its parts may be freed. */
void oc_large_end(oc_collective_t *collective);
/* Whether a lane takes another chunk. */
bool oc_large_has_slot(const oc_collective_t *collective, uint32_t chunk);
void oc_large_send(oc_collective_t *collective, uint32_t chunk);

#endif
