/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What comes back to an Allreduce: transfers, and replies with a header. Under the lock of the
 * client.
 */
#ifndef OC_CLIENT_COLLECTIVE_REPLY_H
#define OC_CLIENT_COLLECTIVE_REPLY_H

#include "client/collective/allreduce.h"

/*
 * One of its transfers on a lane called back. false: with an error, or after one; the collective
 * may be gone then, and nothing more may be done for it.
 */
bool oc_allreduce_called_back(oc_allreduce_t *allreduce, const oc_transfer_t *transfer,
                              const oc_lane_t *lane);
/* A reply must have this header; a wrong one breaks the collective. */
bool oc_allreduce_check_reply(oc_allreduce_t *allreduce, const oc_lane_t *lane,
                              const void *bytes, size_t length, uint8_t message);

#endif
