/* SPDX-License-Identifier: BSD-3-Clause */
/* Owns events of devices that have not happened, and failures of queue pairs that have. */
#include "tests/rdma/inject.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <rdma/rdma_cma.h>

#define MAX_WATCHED 32

/* The source makes its queue pair first. */
enum { SOURCE, INTAKE, PAIRS };

static struct rdma_cm_id *ids[PAIRS];
static unsigned num_ids;

/* What is told with descriptors in epoll sets. */
static struct {
    int fd;
    epoll_data_t data;
} watched[MAX_WATCHED];
static unsigned num_watched;

static struct rdma_cm_event cm_event;
static struct ibv_async_event device_event;
static bool is_injected;       /* the one that was taken last */
static int ready_fd = -1;      /* of whichever of the two waits; -1: none */

/* ---- what happens ---- */

static void say_cm(int type)
{
    cm_event = (struct rdma_cm_event) {.id = ids[INTAKE], .event = (enum rdma_cm_event_type) type,
                                       .status = -ENETRESET};
    ready_fd = ids[INTAKE]->channel->fd;
}

static void say_port(int type)
{
    device_event = (struct ibv_async_event) {.event_type = (enum ibv_event_type) type,
                                             .element.port_num = ids[INTAKE]->port_num};
    ready_fd = ids[INTAKE]->verbs->async_fd;
}

static void say_fatal(int which)
{
    device_event = (struct ibv_async_event) {.event_type = IBV_EVENT_QP_FATAL,
                                             .element.qp = ids[which]->qp};
    ready_fd = ids[which]->verbs->async_fd;
}

/* All that is posted comes back. */
static void break_pair(int which)
{
    struct ibv_qp_attr attributes = {.qp_state = IBV_QPS_ERR};

    if (0 != ibv_modify_qp(ids[which]->qp, &attributes, IBV_QP_STATE)) {
        abort();
    }
}

static const struct {
    const char *name;
    void (*happen)(int what);
    int what;
} kinds[] = {
    {"membership", say_cm, RDMA_CM_EVENT_MULTICAST_ERROR},
    {"address", say_cm, RDMA_CM_EVENT_ADDR_CHANGE},
    {"removal", say_cm, RDMA_CM_EVENT_DEVICE_REMOVAL},
    {"reregister", say_port, IBV_EVENT_CLIENT_REREGISTER},
    {"manager", say_port, IBV_EVENT_SM_CHANGE},
    {"gid", say_port, IBV_EVENT_GID_CHANGE},
    {"device", say_port, IBV_EVENT_DEVICE_FATAL},
    {"intake-fatal", say_fatal, INTAKE},
    {"source-fatal", say_fatal, SOURCE},
    {"intake-broken", break_pair, INTAKE},
    {"source-broken", break_pair, SOURCE},
};

#define NUM_KINDS (sizeof(kinds) / sizeof(kinds[0]))

const char inject_kinds[] = "membership, address, removal, reregister, manager, gid, device, "
                            "intake-fatal, source-fatal, intake-broken, source-broken";

static size_t find(const char *kind)
{
    size_t i = 0;

    while (i < NUM_KINDS && 0 != strcmp(kind, kinds[i].name)) {
        i++;
    }
    return i;
}

bool inject_knows(const char *kind)
{
    return find(kind) < NUM_KINDS;
}

void inject(const char *kind)
{
    size_t i = find(kind);

    kinds[i].happen(kinds[i].what);
}

/* ---- what the transport calls, in place of the libraries ---- */

int __real_rdma_create_qp(struct rdma_cm_id *id, struct ibv_pd *domain,
                          struct ibv_qp_init_attr *attributes);
int __wrap_rdma_create_qp(struct rdma_cm_id *id, struct ibv_pd *domain,
                          struct ibv_qp_init_attr *attributes);
int __real_epoll_ctl(int set, int action, int fd, struct epoll_event *event);
int __wrap_epoll_ctl(int set, int action, int fd, struct epoll_event *event);
int __real_epoll_wait(int set, struct epoll_event *events, int max, int timeout);
int __wrap_epoll_wait(int set, struct epoll_event *events, int max, int timeout);
int __real_rdma_get_cm_event(struct rdma_event_channel *channel, struct rdma_cm_event **event);
int __wrap_rdma_get_cm_event(struct rdma_event_channel *channel, struct rdma_cm_event **event);
int __real_rdma_ack_cm_event(struct rdma_cm_event *event);
int __wrap_rdma_ack_cm_event(struct rdma_cm_event *event);
int __real_ibv_get_async_event(struct ibv_context *device, struct ibv_async_event *event);
int __wrap_ibv_get_async_event(struct ibv_context *device, struct ibv_async_event *event);
void __real_ibv_ack_async_event(struct ibv_async_event *event);
void __wrap_ibv_ack_async_event(struct ibv_async_event *event);

int __wrap_rdma_create_qp(struct rdma_cm_id *id, struct ibv_pd *domain,
                          struct ibv_qp_init_attr *attributes)
{
    ids[num_ids++ % PAIRS] = id;
    return __real_rdma_create_qp(id, domain, attributes);
}

int __wrap_epoll_ctl(int set, int action, int fd, struct epoll_event *event)
{
    if (EPOLL_CTL_ADD == action && num_watched < MAX_WATCHED) {
        watched[num_watched].fd = fd;
        watched[num_watched++].data = event->data;
    }
    return __real_epoll_ctl(set, action, fd, event);
}

/* What is ready has been added to this set: the transport waits for no other. */
int __wrap_epoll_wait(int set, struct epoll_event *events, int max, int timeout)
{
    int count = __real_epoll_wait(set, events, max, timeout);

    for (unsigned i = 0; count >= 0 && count < max && i < num_watched; i++) {
        if (watched[i].fd == ready_fd) {
            events[count++] = (struct epoll_event) {.events = EPOLLIN, .data = watched[i].data};
        }
    }
    return count;
}

int __wrap_rdma_get_cm_event(struct rdma_event_channel *channel, struct rdma_cm_event **event)
{
    if (ready_fd != channel->fd) {
        return __real_rdma_get_cm_event(channel, event);
    }
    ready_fd = -1;
    *event = &cm_event;
    return 0;
}

int __wrap_rdma_ack_cm_event(struct rdma_cm_event *event)
{
    return &cm_event == event ? 0 : __real_rdma_ack_cm_event(event);
}

int __wrap_ibv_get_async_event(struct ibv_context *device, struct ibv_async_event *event)
{
    if (ready_fd != device->async_fd) {
        return __real_ibv_get_async_event(device, event);
    }
    ready_fd = -1;
    is_injected = true;
    *event = device_event;
    return 0;
}

/* To acknowledge one that the device has not counted would be too much. */
void __wrap_ibv_ack_async_event(struct ibv_async_event *event)
{
    if (!is_injected) {
        __real_ibv_ack_async_event(event);
    }
    is_injected = false;
}
