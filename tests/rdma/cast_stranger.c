/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Owns somebody who is no rank of a job, on an RDMA device that a rank uses as well, and in its multicast
 * group: what comes has the same GID as that rank's, and another queue pair. Each datagram that others send,
 * it sends again, as it is, and then with other bytes behind the header.
 *
 * usage: cast_stranger OWN GROUP; IPv4 addresses. Prints "ready", and "saw N sent copy C changed D" when it
 * gets SIGTERM.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <rdma/rdma_cma.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SLOTS         512
#define GRH           40
#define HEADER        40
#define SLOT_BYTES    (GRH + 4096)
#define MULTICAST_QPN 0xffffff
#define LOOK_MS       100

typedef enum { RECEIVING, COPYING, CHANGING } stage_t;

static struct rdma_event_channel *events;
static struct rdma_cm_id *id;
static struct ibv_comp_channel *wakeups;
static struct ibv_cq *queue;
static struct ibv_pd *domain;
static struct ibv_mr *region;
static struct ibv_ah *group;
static uint32_t group_key;
static uint8_t memory[SLOTS][SLOT_BYTES];
static uint32_t lengths[SLOTS];
static stage_t stages[SLOTS];
static unsigned long seen, copied, changed;
static volatile sig_atomic_t ended;

static void end(int number)
{
    (void) number;
    ended = 1;
}

static void need(bool done, const char *what)
{
    if (!done) {
        fprintf(stderr, "cast_stranger: cannot %s: %s\n", what, strerror(errno));
        exit(EXIT_FAILURE);
    }
}

static struct sockaddr_in parse(const char *text)
{
    struct sockaddr_in address = {.sin_family = AF_INET};

    need(1 == inet_pton(AF_INET, text, &address.sin_addr), "read an IPv4 address");
    return address;
}

/* One queue of completions for both directions: a slot is received into, and then sent from twice. */
static void make_queues(void)
{
    struct ibv_qp_init_attr attributes = {
        .cap = {.max_send_wr = SLOTS, .max_recv_wr = SLOTS, .max_send_sge = 1, .max_recv_sge = 1},
        .qp_type = IBV_QPT_UD, .sq_sig_all = 1};

    need(NULL != (domain = ibv_alloc_pd(id->verbs)), "make a domain");
    need(NULL != (wakeups = ibv_create_comp_channel(id->verbs)), "make a channel");
    need(0 == fcntl(wakeups->fd, F_SETFL, O_NONBLOCK), "use the channel");
    need(NULL != (queue = ibv_create_cq(id->verbs, 2 * SLOTS, NULL, wakeups, 0)), "make a queue");
    attributes.send_cq = attributes.recv_cq = queue;
    need(0 == rdma_create_qp(id, domain, &attributes), "make a queue pair");
    region = ibv_reg_mr(domain, memory, sizeof(memory), IBV_ACCESS_LOCAL_WRITE);
    need(NULL != region, "register memory");
}

static void join(struct sockaddr_in address)
{
    struct rdma_cm_event *event;

    need(0 == rdma_join_multicast(id, (struct sockaddr *) &address, NULL)
         && 0 == rdma_get_cm_event(events, &event), "join");
    need(RDMA_CM_EVENT_MULTICAST_JOIN == event->event && 0 == event->status, "join the group");
    group_key = event->param.ud.qkey;
    need(NULL != (group = ibv_create_ah(domain, &event->param.ud.ah_attr)), "address the group");
    (void) rdma_ack_cm_event(event);
}

static void receive(unsigned slot)
{
    struct ibv_sge piece = {(uintptr_t) memory[slot], SLOT_BYTES, region->lkey};
    struct ibv_recv_wr request = {.wr_id = slot, .sg_list = &piece, .num_sge = 1}, *bad;

    stages[slot] = RECEIVING;
    need(0 == ibv_post_recv(id->qp, &request, &bad), "post a receive");
}

static void send_on(unsigned slot, stage_t stage)
{
    struct ibv_sge piece = {(uintptr_t) memory[slot] + GRH, lengths[slot], region->lkey};
    struct ibv_send_wr request = {
        .wr_id = slot, .sg_list = &piece, .num_sge = 1, .opcode = IBV_WR_SEND,
        .wr.ud = {.ah = group, .remote_qpn = MULTICAST_QPN, .remote_qkey = group_key}}, *bad;

    stages[slot] = stage;
    need(0 == ibv_post_send(id->qp, &request, &bad), "post a send");
}

/* The next thing for its slot. What comes from here, and what has no data, is left alone. */
static void go_on(const struct ibv_wc *done)
{
    unsigned slot = (unsigned) done->wr_id;

    need(IBV_WC_SUCCESS == done->status, ibv_wc_status_str(done->status));
    if (RECEIVING == stages[slot] && done->src_qp != id->qp->qp_num
        && done->byte_len > GRH + HEADER) {
        lengths[slot] = done->byte_len - GRH;
        seen++;
        send_on(slot, COPYING);
    } else if (COPYING == stages[slot]) {
        copied++;
        for (uint32_t i = HEADER; i < lengths[slot]; i++) {
            memory[slot][GRH + i] ^= 0x5a;
        }
        send_on(slot, CHANGING);
    } else {
        changed += CHANGING == stages[slot];
        receive(slot);
    }
}

static void work(void)
{
    struct pollfd ready = {.fd = wakeups->fd, .events = POLLIN};
    struct ibv_cq *woken;
    struct ibv_wc done;
    void *context;

    while (!ended) {
        need(0 == ibv_req_notify_cq(queue, 0), "ask for a wakeup");
        while (!ended && 1 == ibv_poll_cq(queue, 1, &done)) {
            go_on(&done);
        }
        (void) poll(&ready, 1, LOOK_MS);
        while (0 == ibv_get_cq_event(wakeups, &woken, &context)) {
            ibv_ack_cq_events(woken, 1);
        }
    }
}

int main(int argc, char **argv)
{
    struct sockaddr_in own;

    need(3 == argc, "do without two addresses");
    own = parse(argv[1]);
    signal(SIGTERM, end);
    need(NULL != (events = rdma_create_event_channel()), "use librdmacm");
    need(0 == rdma_create_id(events, &id, NULL, RDMA_PS_UDP), "make an identifier");
    need(0 == rdma_bind_addr(id, (struct sockaddr *) &own) && NULL != id->verbs, "find the device");
    make_queues();
    for (unsigned slot = 0; slot < SLOTS; slot++) {
        receive(slot);
    }
    join(parse(argv[2]));
    printf("ready\n");
    fflush(stdout);
    work();
    printf("saw %lu sent copy %lu changed %lu\n", seen, copied, changed);
    return EXIT_SUCCESS;
}
