/* SPDX-License-Identifier: BSD-3-Clause */
/* The conversation of a misbehaving server. */
#include "tests/engine/fake_server.h"

#include <arpa/inet.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "control/stream.h"
#include "net/socket.h"
#include "protocol/seal.h"
#include "protocol/tag.h"
#include "ucx_backend/worker.h"

#define MAX_CLIENTS 8
#define MAX_READIES 64
#define HANDLE      77

typedef struct {
    oc_stream_t stream;
    oc_endpoint_t *endpoint;
} client_t;

typedef struct {
    oc_transfer_t transfer;
    uint8_t bytes[OC_HEADER_SIZE];
} ready_t;

typedef struct {
    fake_t behaviour;
    int listener;
    oc_worker_t *worker;
    oc_mac_t *codes;
    client_t clients[MAX_CLIENTS];
    unsigned num_clients;
    ready_t readies[MAX_READIES];
    unsigned num_readies;
    uint64_t first_group;
    bool has_first;
} fake_server_state_t;

static void ignore(void *arg)
{
    (void) arg;
}

static void on_sent(oc_transfer_t *transfer)
{
    (void) transfer;
}

static void on_hello(fake_server_state_t *state, client_t *client, const oc_hello_t *hello)
{
    oc_control_t answer = {.type = OC_CONTROL_WELCOME};
    size_t length;

    if (NULL == state->codes) {
        state->codes = oc_seal_new(hello->job_key, 0);
    }
    if (OC_OK != oc_endpoint_open(state->worker, hello->address.data, ignore, NULL,
                                  &client->endpoint)) {
        _exit(EXIT_FAILURE);
    }
    answer.welcome.version = OC_PROTOCOL_VERSION_MAX;
    answer.welcome.incarnation = 1;
    answer.welcome.num_aggregators = 1;
    answer.welcome.address[0].data = oc_worker_address(state->worker, &length);
    answer.welcome.address[0].length = (uint32_t) length;
    (void) oc_stream_send(&client->stream, &answer);
}

static oc_header_t ready_of(const oc_join_t *join)
{
    return (oc_header_t) {.message = OC_MESSAGE_READY, .handle = HANDLE,
                          .rank = join->first_aggregator, .chunks = 1,
                          .chunk_bytes = join->chunk_bytes};
}

static ready_t *ready_new(fake_server_state_t *state)
{
    return &state->readies[state->num_readies++ % MAX_READIES];
}

static void send_bytes(const client_t *client, const oc_join_t *join, ready_t *ready, size_t length)
{
    ready->transfer.done = on_sent;
    oc_send(client->endpoint, &ready->transfer, ready->bytes, length,
            oc_tag(OC_KIND_REPLY, join->reply_handle, join->first_aggregator, 0, OC_READY_SLOT));
}

/* As who knows all about the group but the job's key, and has READYs of other groups and jobs. */
static void forge_ready(fake_server_state_t *state, const oc_join_t *join, unsigned number,
                        uint8_t *bytes)
{
    static const uint8_t other_key[OC_JOB_KEY_SIZE] = {1};
    oc_header_t header = ready_of(join), altered = header;
    oc_mac_t *other = oc_seal_new(other_key, 0);
    uint8_t code[OC_MAC_SIZE];

    oc_header_encode(&header, bytes);
    switch (number) {
    case 0:
        oc_seal(other, join->group, header.rank, &header, bytes, OC_HEADER_SIZE);
        break;
    case 1:
        oc_seal(state->codes, join->group + (1 << 16), header.rank, &header, bytes, OC_HEADER_SIZE);
        break;
    case 2:
        memset(bytes + OC_CODE_OFFSET, 0, OC_MAC_SIZE);
        break;
    default:
        oc_seal(state->codes, join->group, header.rank, &header, bytes, OC_HEADER_SIZE);
        memcpy(code, bytes + OC_CODE_OFFSET, sizeof(code));
        altered.handle += 3 == number;
        altered.chunk_bytes -= 4 == number ? 4096 : 0;
        oc_header_encode(&altered, bytes);
        memcpy(bytes + OC_CODE_OFFSET, code, sizeof(code));
    }
    oc_mac_free(other);
}

static void send_forged(fake_server_state_t *state, const client_t *client, const oc_join_t *join)
{
    for (unsigned i = 0; i < FORGED_READIES; i++) {
        ready_t *ready = ready_new(state);

        forge_ready(state, join, i, ready->bytes);
        send_bytes(client, join, ready, OC_HEADER_SIZE);
    }
}

static void send_ready(fake_server_state_t *state, const client_t *client, const oc_join_t *join)
{
    ready_t *ready = ready_new(state);
    oc_header_t header = ready_of(join);

    if (FAKE_OTHER == state->behaviour) {
        header.message = OC_MESSAGE_COMMIT;
        header.chunk_bytes = header.last_bytes = 4096;
        header.count = 1024;
        header.type = 9;
        header.op = 1;
    }
    oc_header_encode(&header, ready->bytes);
    oc_seal(state->codes, join->group, join->first_aggregator, &header, ready->bytes,
            OC_HEADER_SIZE);
    send_bytes(client, join, ready,
               FAKE_SHORT == state->behaviour ? OC_HEADER_SIZE / 2 : OC_HEADER_SIZE);
}

static void on_join(fake_server_state_t *state, client_t *client, const oc_join_t *join)
{
    oc_control_t answer = {.type = OC_CONTROL_JOINED,
                           .joined = {.group = join->group, .handle = HANDLE}};

    if (!state->has_first) {
        state->has_first = true;
        state->first_group = join->group;
    }
    if (FAKE_IDLE == state->behaviour
        || (FAKE_LATE_REFUSAL == state->behaviour && state->first_group != join->group)) {
        return;
    }
    (void) oc_stream_send(&client->stream, &answer);
    if (FAKE_FORGED == state->behaviour) {
        send_forged(state, client, join);
    }
    if (FAKE_SILENT != state->behaviour) {
        send_ready(state, client, join);
    }
}

static void on_leave(const fake_server_state_t *state, client_t *client, uint64_t group)
{
    static const char text[] = "too late";
    oc_control_t answer = {.type = OC_CONTROL_GROUP_ERROR,
                           .notice = {.group = group, .status = OC_ERR_REFUSED,
                                      .text = {(const uint8_t *) text, sizeof(text) - 1}}};

    if (FAKE_LATE_REFUSAL == state->behaviour) {
        (void) oc_stream_send(&client->stream, &answer);
    }
}

static void handle(fake_server_state_t *state, client_t *client, const oc_control_t *message)
{
    oc_control_t pong = {.type = OC_CONTROL_PONG};

    switch (message->type) {
    case OC_CONTROL_HELLO:
        on_hello(state, client, &message->hello);
        break;
    case OC_CONTROL_JOIN:
        on_join(state, client, &message->join);
        break;
    case OC_CONTROL_LEAVE:
        on_leave(state, client, message->leave.group);
        break;
    case OC_CONTROL_PING:
        pong.ping = message->ping;
        (void) oc_stream_send(&client->stream, &pong);
        break;
    default:
        break;
    }
}

static void listen_to(fake_server_state_t *state, client_t *client)
{
    oc_control_t message;
    size_t used;

    if (client->stream.fd < 0) {
        return;
    }
    if (OC_OK != oc_stream_read(&client->stream)) {
        oc_stream_close(&client->stream);
        return;
    }
    while (OC_OK == oc_stream_next(&client->stream, &message, &used)) {
        handle(state, client, &message);
        oc_stream_drop(&client->stream, used);
    }
}

static void __attribute__((noreturn)) serve(fake_server_state_t *state)
{
    char error[256];

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (OC_OK != oc_worker_open(NULL, &state->worker, error, sizeof(error))) {
        fprintf(stderr, "fake server: %s\n", error);
        _exit(EXIT_FAILURE);
    }
    for (;;) {
        int fd = accept4(state->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

        if (fd >= 0 && state->num_clients < MAX_CLIENTS) {
            oc_socket_prepare(fd);
            oc_stream_init(&state->clients[state->num_clients++].stream, fd, OC_MAX_BODY);
        }
        for (unsigned i = 0; i < state->num_clients; i++) {
            listen_to(state, &state->clients[i]);
        }
        if (0 == oc_worker_progress(state->worker)) {
            usleep(500);
        }
    }
}

/* One connection, which is not accepted, is all that there is room for. */
static void fill(const fake_server_state_t *state, const struct sockaddr_in *address)
{
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    if (0 != listen(state->listener, 0)
        || 0 != connect(fd, (const struct sockaddr *) address, sizeof(*address))) {
        perror("fake server");
        exit(EXIT_FAILURE);
    }
}

/* The connection that filled it is dropped, and there is room for all. */
static void let_in_late(const fake_server_state_t *state)
{
    usleep(3500 * 1000);
    close(accept(state->listener, NULL, NULL));
    (void) listen(state->listener, MAX_CLIENTS);
}

void fake_server_start(fake_server_t *server, fake_t behaviour)
{
    fake_server_start_at(server, 0, behaviour);
}

void fake_server_start_at(fake_server_t *server, uint16_t port, fake_t behaviour)
{
    static fake_server_state_t state;
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(port),
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof(address);
    int on = 1;

    state.behaviour = behaviour;
    state.listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    (void) setsockopt(state.listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
    if (0 != bind(state.listener, (struct sockaddr *) &address, length)
        || 0 != getsockname(state.listener, (struct sockaddr *) &address, &length)
        || 0 != listen(state.listener, MAX_CLIENTS)) {
        perror("fake server");
        exit(EXIT_FAILURE);
    }
    if (FAKE_CROWDED == behaviour) {
        fill(&state, &address);
    }
    snprintf(server->address, sizeof(server->address), "127.0.0.1:%u", ntohs(address.sin_port));
    fflush(NULL);
    server->pid = fork();
    if (server->pid < 0) {
        perror("fork");
        exit(EXIT_FAILURE);
    }
    if (0 == server->pid) {
        if (FAKE_CROWDED == behaviour) {
            let_in_late(&state);
        }
        serve(&state);
    }
    close(state.listener);
}

void fake_server_stop(const fake_server_t *server)
{
    (void) kill(server->pid, SIGKILL);
    (void) waitpid(server->pid, NULL, 0);
}
