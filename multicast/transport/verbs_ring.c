/* SPDX-License-Identifier: BSD-3-Clause */
/* Registers slots of memory with an RDMA device, and waits for what happens in them. */
#include "multicast/transport/verbs_ring.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#define CACHE_LINE 64
#define PAGE       4096

/* At most one wakeup for each completion queue and request is to be expected. */
#define MAX_WAKEUPS 16

int oc_verbs_ring_make(struct ibv_pd *domain, unsigned slots, size_t bytes, oc_verbs_ring_t *ring,
                       const char **what)
{
    size_t size;

    *what = "register memory for datagrams, which a higher limit of locked memory (ulimit -l) or "
            "a smaller coll_optcast_multicast_staging may allow";
    ring->slots = slots;
    ring->slot_size = (bytes + CACHE_LINE - 1) / CACHE_LINE * CACHE_LINE;
    size = (slots * ring->slot_size + PAGE - 1) / PAGE * PAGE;
    ring->memory = aligned_alloc(PAGE, size);
    if (NULL == ring->memory) {
        return ENOMEM;
    }
    memset(ring->memory, 0, size);
    ring->region = ibv_reg_mr(domain, ring->memory, size, IBV_ACCESS_LOCAL_WRITE);
    return NULL == ring->region ? errno : 0;
}

void oc_verbs_ring_free(oc_verbs_ring_t *ring)
{
    if (NULL != ring->region) {
        (void) ibv_dereg_mr(ring->region);
    }
    free(ring->memory);
}

bool oc_verbs_take_wakeups(struct ibv_comp_channel *wakeups)
{
    struct ibv_cq *queue;
    void *context;
    int count = 0;

    while (count < MAX_WAKEUPS && 0 == ibv_get_cq_event(wakeups, &queue, &context)) {
        ibv_ack_cq_events(queue, 1);
        count++;
    }
    return count > 0;
}

int oc_verbs_make_wakeups(struct ibv_context *device, struct ibv_comp_channel **wakeups)
{
    *wakeups = ibv_create_comp_channel(device);
    return NULL != *wakeups && 0 == fcntl((*wakeups)->fd, F_SETFL, O_NONBLOCK) ? 0 : errno;
}
