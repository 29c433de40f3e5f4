/* SPDX-License-Identifier: BSD-3-Clause */
/* Forwarding of bytes, and its faults. */
#include "tests/engine/proxy.h"

#include <arpa/inet.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

/* How soon it notices what it is told. */
#define LOOK_MS 2

typedef struct {
    int ends[2];              /* client and server; -1 when it is over */
} pair_t;

static int socket_at(struct sockaddr_in *address, uint16_t port)
{
    *address = (struct sockaddr_in) {.sin_family = AF_INET, .sin_port = htons(port),
                                     .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    return socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
}

static void end_pair(pair_t *pair, int with_error)
{
    struct linger linger = {.l_onoff = with_error};

    for (int i = 0; i < 2; i++) {
        if (pair->ends[i] >= 0) {
            (void) setsockopt(pair->ends[i], SOL_SOCKET, SO_LINGER, &linger, sizeof(linger));
            close(pair->ends[i]);
            pair->ends[i] = -1;
        }
    }
}

static void pass_on(pair_t *pair, int from)
{
    char bytes[65536];
    ssize_t length = recv(pair->ends[from], bytes, sizeof(bytes), MSG_DONTWAIT);

    if (length <= 0 || length != send(pair->ends[!from], bytes, (size_t) length, MSG_NOSIGNAL)) {
        end_pair(pair, 0);
    }
}

static void take_client(proxy_t *proxy, int listener, pair_t *pair, uint16_t server_port)
{
    struct sockaddr_in address;

    pair->ends[0] = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
    pair->ends[1] = socket_at(&address, server_port);
    if (pair->ends[0] < 0
        || 0 != connect(pair->ends[1], (struct sockaddr *) &address, sizeof(address))) {
        end_pair(pair, 0);
    }
    atomic_fetch_add(&proxy->connections, 1);
}

static void obey(const proxy_t *proxy, pair_t *pairs)
{
    unsigned cut = atomic_load(&proxy->cut), reset = atomic_load(&proxy->reset);

    for (unsigned i = 0; i < MAX_PROXY_CONNECTIONS; i++) {
        if ((cut | reset) & 1u << i) {
            end_pair(&pairs[i], 0 != (reset & 1u << i));
        }
    }
}

static void forward(const proxy_t *proxy, struct pollfd *events, pair_t *pairs)
{
    unsigned frozen = atomic_load(&proxy->frozen);

    for (unsigned i = 0; i < 2 * MAX_PROXY_CONNECTIONS; i++) {
        pair_t *pair = &pairs[i / 2];

        if (0 != events[i].revents && pair->ends[0] >= 0 && !(frozen & 1u << i / 2)) {
            pass_on(pair, (int) (i % 2));
        }
    }
}

static void __attribute__((noreturn)) serve(proxy_t *proxy, int listener, uint16_t server_port)
{
    pair_t pairs[MAX_PROXY_CONNECTIONS];
    struct pollfd events[2 * MAX_PROXY_CONNECTIONS + 1];
    unsigned count = 0;

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (unsigned i = 0; i < MAX_PROXY_CONNECTIONS; i++) {
        pairs[i].ends[0] = pairs[i].ends[1] = -1;
    }
    for (;;) {
        unsigned frozen = atomic_load(&proxy->frozen);

        for (unsigned i = 0; i < 2 * MAX_PROXY_CONNECTIONS; i++) {
            bool still = frozen & 1u << i / 2;

            events[i] = (struct pollfd) {.fd = still ? -1 : pairs[i / 2].ends[i % 2],
                                         .events = POLLIN};
        }
        events[2 * MAX_PROXY_CONNECTIONS] =
            (struct pollfd) {.fd = count < MAX_PROXY_CONNECTIONS ? listener : -1,
                             .events = POLLIN};
        (void) poll(events, 2 * MAX_PROXY_CONNECTIONS + 1, LOOK_MS);
        obey(proxy, pairs);
        forward(proxy, events, pairs);
        if (0 != events[2 * MAX_PROXY_CONNECTIONS].revents) {
            take_client(proxy, listener, &pairs[count++], server_port);
        }
    }
}

void proxy_start(proxy_t *proxy, uint16_t server_port)
{
    struct sockaddr_in address;
    socklen_t length = sizeof(address);
    int listener = socket_at(&address, 0);
    pid_t pid;

    if (0 != bind(listener, (struct sockaddr *) &address, length)
        || 0 != getsockname(listener, (struct sockaddr *) &address, &length)
        || 0 != listen(listener, MAX_PROXY_CONNECTIONS)) {
        perror("proxy");
        exit(EXIT_FAILURE);
    }
    snprintf(proxy->address, sizeof(proxy->address), "127.0.0.1:%u", ntohs(address.sin_port));
    fflush(NULL);
    pid = fork();
    if (pid < 0) {
        perror("fork");
        exit(EXIT_FAILURE);
    }
    if (0 == pid) {
        serve(proxy, listener, server_port);
    }
    proxy->pid = pid;
    close(listener);
}

void proxy_stop(proxy_t *proxy)
{
    (void) kill(proxy->pid, SIGKILL);
    (void) waitpid(proxy->pid, NULL, 0);
    proxy->pid = -1;
}
