/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Owns a stranger that speaks UCX: it makes a worker, takes the worker's own address with another
 * host's address and port in it, and sends tagged messages there, as contributions, results and
 * requests of an Allreduce.
 *
 * usage: stranger_ucx OWN-ADDRESS ADDRESS PORT SECONDS
 * Prints "stranger: N messages sent" (N went, as far as UCX knows), or "stranger: no connection",
 * beside what UCX prints.
 */
#include <arpa/inet.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <time.h>
#include <ucp/api/ucp.h>

#define FLYING 64

static bool failed;

static void on_error(void *arg, ucp_ep_h ep, ucs_status_t status)
{
    (void) arg;
    (void) ep;
    fprintf(stderr, "endpoint: %s\n", ucs_status_string(status));
    failed = true;
}

static void check(ucs_status_t status, const char *what)
{
    if (UCS_OK != status) {
        printf("%s: %s\n", what, ucs_status_string(status));
        exit(2);
    }
}

/* Where UCX listens: the only socket that does. */
static uint16_t own_port(void)
{
    for (int fd = 0; fd < 256; fd++) {
        struct sockaddr_in6 name;
        socklen_t length = sizeof(name), size = sizeof(int);
        int listening = 0;

        if (0 == getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listening, &size) && listening
            && 0 == getsockname(fd, (struct sockaddr *) &name, &length)) {
            return name.sin6_port;
        }
    }
    printf("UCX does not listen\n");
    exit(2);
}

static void replace(uint8_t *bytes, size_t length, const void *old, const void *new, size_t size)
{
    uint8_t *at = memmem(bytes, length, old, size);

    if (NULL == at) {
        printf("the address is not in the worker's\n");
        exit(2);
    }
    memcpy(at, new, size);
}

static ucp_ep_h connect_to(ucp_worker_h worker, char **argv)
{
    int family = NULL != strchr(argv[1], ':') ? AF_INET6 : AF_INET;
    size_t length, size = AF_INET6 == family ? 16 : 4;
    uint8_t own[16], other[16], copy[4096];
    uint16_t port = own_port(), other_port = htons((uint16_t) atoi(argv[3]));
    ucp_address_t *address;
    ucp_ep_params_t params = {
        .field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS | UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE
                      | UCP_EP_PARAM_FIELD_ERR_HANDLER,
        .address = (const ucp_address_t *) copy,
        .err_mode = UCP_ERR_HANDLING_MODE_PEER,
        .err_handler = {.cb = on_error},
    };
    ucp_ep_h ep;

    inet_pton(family, argv[1], own);
    inet_pton(family, argv[2], other);
    check(ucp_worker_get_address(worker, &address, &length), "ucp_worker_get_address");
    memcpy(copy, address, length);
    replace(copy, length, own, other, size);
    replace(copy, length, &port, &other_port, sizeof(port));
    check(ucp_ep_create(worker, &params, &ep), "ucp_ep_create");
    return ep;
}

/* Kinds 1 to 4, of the first groups, ranks and operations, and some at random. */
static uint64_t draw_tag(void)
{
    uint64_t random = 0;

    (void) getrandom(&random, sizeof(random), 0);
    return (1 + (random & 3)) << 60 | (random >> 2 & 3) << 40 | (random >> 4 & 3) << 24
           | (random >> 6 & 0x3f) << 12 | (random >> 12 & 7)
           | (0 == (random >> 20 & 7) ? random >> 24 & 0xfffff0000000ull : 0);
}

static void on_sent(void *request, ucs_status_t status, void *arg)
{
    unsigned long *sent = arg;

    *sent += UCS_OK == status;
    sent[1]--;
    ucp_request_free(request);
}

static unsigned long send_all(ucp_worker_h worker, ucp_ep_h ep, double seconds)
{
    static uint8_t bytes[40000];
    unsigned long counts[2] = {0, 0}; /* sent, flying */
    ucp_request_param_t param = {
        .op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA,
        .cb.send = on_sent, .user_data = counts};
    time_t end = time(NULL) + (time_t) seconds;

    memset(bytes, 0x41, sizeof(bytes));
    while (time(NULL) < end && !failed) {
        if (counts[1] < FLYING) {
            size_t length = 64u << (draw_tag() >> 12 & 7);
            ucs_status_ptr_t request = ucp_tag_send_nbx(ep, bytes, length, draw_tag(), &param);

            counts[0] += NULL == request;
            counts[1] += UCS_PTR_IS_PTR(request);
            failed = failed || UCS_PTR_IS_ERR(request);
        }
        ucp_worker_progress(worker);
    }
    return counts[0];
}

int main(int argc, char **argv)
{
    ucp_params_t params = {.field_mask = UCP_PARAM_FIELD_FEATURES, .features = UCP_FEATURE_TAG};
    ucp_worker_params_t worker_params = {.field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE,
                                         .thread_mode = UCS_THREAD_MODE_SINGLE};
    ucp_config_t *config;
    ucp_context_h context;
    ucp_worker_h worker;
    unsigned long sent;

    if (argc < 5) {
        return 2;
    }
    setenv("UCX_TLS", "tcp", 1);
    setenv("UCX_NET_DEVICES", "eth0", 1);
    setenv("UCX_TCP_CONN_NB", "y", 1);
    setenv("UCX_TCP_TX_SEG_SIZE", "33k", 1);
    setenv("UCX_TCP_RX_SEG_SIZE", "64k", 1);
    check(ucp_config_read(NULL, NULL, &config), "ucp_config_read");
    check(ucp_init(&params, config, &context), "ucp_init");
    check(ucp_worker_create(context, &worker_params, &worker), "ucp_worker_create");
    sent = send_all(worker, connect_to(worker, argv), atof(argv[4]));
    if (sent > 0) {
        printf("stranger: %lu messages sent\n", sent);
    } else {
        printf("stranger: no connection\n");
    }
    fflush(stdout);
    _exit(0);
}
