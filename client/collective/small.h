/* SPDX-License-Identifier: BSD-3-Clause */
/* Small Allreduces: one message there, one back. Under the lock of the client. */
#ifndef OC_CLIENT_COLLECTIVE_SMALL_H
#define OC_CLIENT_COLLECTIVE_SMALL_H

#include "client/state/types.h"

/* OC_ERR_NO_MEMORY or OC_OK. */
oc_status_t oc_small_start(oc_collective_t *collective);
/* For steps of a node: the place where the contribution has to be made; NULL: out of memory */
void *oc_small_prepare(oc_collective_t *collective);
void oc_small_send(oc_collective_t *collective);
/* Also of one that was not sent. */
void oc_small_end(oc_collective_t *collective);

#endif
