/* SPDX-License-Identifier: BSD-3-Clause */
/* A process for each connection. */
#include "tests/engine/doorman.h"

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

#include "protocol/control.h"

#define BYTES 65536

static int socket_for(struct sockaddr_in *address, uint16_t port)
{
    int on = 1, fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    *address = (struct sockaddr_in) {.sin_family = AF_INET, .sin_port = htons(port),
                                     .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    (void) setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
    return fd;
}

/* Ends with the connection. */
static void pass_on(int from, int to)
{
    char bytes[BYTES];
    ssize_t length = recv(from, bytes, sizeof(bytes), 0);

    if (length <= 0 || length != send(to, bytes, (size_t) length, MSG_NOSIGNAL)) {
        _exit(EXIT_SUCCESS);
    }
}

/* HELLO stays in the socket. Returns a bit. */
static unsigned who_calls(int client)
{
    static uint8_t bytes[BYTES];
    oc_control_t message;
    long used = 0;

    while (0 == used) {
        ssize_t length = recv(client, bytes, sizeof(bytes), MSG_PEEK);

        if (length <= 0) {
            _exit(EXIT_SUCCESS);
        }
        used = oc_control_decode(bytes, (size_t) length, OC_MAX_HELLO_BODY, &message);
        usleep(1000);
    }
    return used > 0 && OC_CONTROL_HELLO == message.type && message.hello.process < 32 ? 1u << message.hello.process : 0;
}

static void __attribute__((noreturn)) attend(const doorman_t *doorman, int client, uint16_t server_port)
{
    struct sockaddr_in address;
    int server = socket_for(&address, server_port);
    struct pollfd ends[2] = {{.fd = client, .events = POLLIN}, {.fd = server, .events = POLLIN}};
    unsigned caller;

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    caller = who_calls(client);
    if (0 != (caller & atomic_load(&doorman->barred))) {
        _exit(EXIT_SUCCESS);
    }
    while (0 != (caller & atomic_load(&doorman->ignored))) {
        pause();
    }
    if (0 != connect(server, (struct sockaddr *) &address, sizeof(address))) {
        _exit(EXIT_SUCCESS);
    }
    for (;;) {
        (void) poll(ends, 2, -1);
        for (int i = 0; i < 2; i++) {
            if (0 != ends[i].revents) {
                pass_on(ends[i].fd, ends[!i].fd);
            }
        }
    }
}

static void __attribute__((noreturn)) stand(const doorman_t *doorman, int listener, uint16_t server_port)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    (void) signal(SIGCHLD, SIG_IGN);
    for (;;) {
        int client = accept4(listener, NULL, NULL, SOCK_CLOEXEC);

        if (client >= 0 && 0 == fork()) {
            close(listener);
            attend(doorman, client, server_port);
        }
        close(client);
    }
}

void doorman_start(doorman_t *doorman, uint16_t port, uint16_t server_port)
{
    struct sockaddr_in address;
    int listener = socket_for(&address, port);
    pid_t pid;

    if (0 != bind(listener, (struct sockaddr *) &address, sizeof(address)) || 0 != listen(listener, 32)) {
        perror("doorman");
        exit(EXIT_FAILURE);
    }
    fflush(NULL);
    pid = fork();
    if (pid < 0) {
        perror("fork");
        exit(EXIT_FAILURE);
    }
    if (0 == pid) {
        stand(doorman, listener, server_port);
    }
    doorman->pid = pid;
    close(listener);
}

void doorman_stop(doorman_t *doorman)
{
    (void) kill(doorman->pid, SIGKILL);
    (void) waitpid(doorman->pid, NULL, 0);
    doorman->pid = -1;
}
