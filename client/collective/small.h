/* SPDX-License-Identifier: BSD-3-Clause */
/* Small Allreduces: one message there, one back. Under the lock of the client. */
#ifndef OC_CLIENT_COLLECTIVE_SMALL_H
#define OC_CLIENT_COLLECTIVE_SMALL_H

#include "client/collective/allreduce.h"

typedef struct oc_small oc_small_t;

typedef struct {
    oc_transfer_t transfer;
    oc_small_t *small;
} oc_small_transfer_t;

/* State of a small Allreduce; also for tests of it. */
struct oc_small {
    oc_allreduce_t *allreduce;
    oc_small_transfer_t request, reply;
    const oc_lane_t *lane;
    uint8_t *message;          /* header and contribution, then header and result; or NULL */
    bool sending;              /* UCX has the message */
    bool resend_waits;         /* to be sent again when UCX gives it back */
    bool resent;
};

/* Its result, as it travels, came another way: takes it, but does not end it. */
void oc_small_take(oc_allreduce_t *allreduce, const void *result);

/* Another rank may lose the server before it has this. */
void oc_small_keep(oc_allreduce_t *allreduce, const void *result);

extern const oc_allreduce_algorithm_t oc_small_flat, oc_small_node;

/* One that has started and failed, with servers that may be gone: takes its receive back, if there is one. */
void oc_small_cancel(oc_allreduce_t *allreduce);

#endif
