/* SPDX-License-Identifier: BSD-3-Clause */
/* What small and large Allreduces have in common. Under the lock of the client. */
#ifndef OC_CLIENT_ALLREDUCE_H
#define OC_CLIENT_ALLREDUCE_H

#include "client/types.h"

/* args: oc_allreduce_args_t */
oc_collective_t *oc_allreduce_new(oc_group_t *group, const void *args);
void oc_allreduce_free(oc_client_t *client, oc_collective_t *collective);
void oc_allreduce_begin(oc_collective_t *collective);
/* Returns what has become of it: the last step may go wrong. As oc_cast_end. */
oc_status_t oc_allreduce_end(oc_collective_t *collective, oc_status_t status);
/*
 * One of its transfers on a lane called back. false: with an error, or after one; the collective
 * may be gone then, and nothing more may be done for it.
 */
bool oc_collective_called_back(oc_collective_t *collective, const oc_transfer_t *transfer,
                               const oc_lane_t *lane);
/* A reply must have this header; a wrong one breaks the collective. */
bool oc_collective_check_reply(oc_collective_t *collective, const oc_lane_t *lane,
                               const void *bytes, size_t length, uint8_t message);

#endif
