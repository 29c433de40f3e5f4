/* SPDX-License-Identifier: BSD-3-Clause */
/* Equal slots of memory that an RDMA device may read and write; and wakeups. For verbs.c only. */
#ifndef OC_MULTICAST_TRANSPORT_VERBS_RING_H
#define OC_MULTICAST_TRANSPORT_VERBS_RING_H

#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct {
    uint8_t *memory;
    struct ibv_mr *region;
    size_t slot_size;
    unsigned slots;
} oc_verbs_ring_t;

/* Slots for so many bytes each. Returns 0 or an errno, with what failed in *what. */
int oc_verbs_ring_make(struct ibv_pd *domain, unsigned slots, size_t bytes, oc_verbs_ring_t *ring,
                       const char **what);

/* Nothing happens if it was never made. */
void oc_verbs_ring_free(oc_verbs_ring_t *ring);

/*
 * Acknowledges what has come, or the completion queue could never be destroyed; whether anything
 * has. Does not wait.
 */
bool oc_verbs_take_wakeups(struct ibv_comp_channel *wakeups);

/* One that does not block, in *wakeups. Returns 0 or an errno. */
int oc_verbs_make_wakeups(struct ibv_context *device, struct ibv_comp_channel **wakeups);

#endif
