/* SPDX-License-Identifier: BSD-3-Clause */
/* The line of clients in front of a server that has all its jobs. */
#include "server/daemon/waiting.h"

#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#include "base/clock.h"
#include "base/limits.h"
#include "server/job/gate.h"
#include "server/job/job.h"

/* A tenth less than clients wait by default, so that they are told why. */
#define PATIENCE (OC_CONNECT_SECONDS * OC_SECOND * 9 / 10)

_Static_assert(PATIENCE > OC_RETIRE_TIME, "a place that becomes free is theirs");

#define MAX_WAITING 4096

struct oc_waiting_client {
    int fd;
    uint64_t deadline;
    uint8_t job_id[OC_JOB_ID_SIZE];
    struct oc_waiting_client *prev, *next;
    size_t length;
    uint8_t bytes[];
};

typedef struct oc_waiting_client client_t;

/* Whether none of those before it is of its job. */
static bool waiting_is_first(const oc_waiting_t *waiting, const client_t *client)
{
    const client_t *other = waiting->clients;

    while (other != client && 0 != memcmp(other->job_id, client->job_id, OC_JOB_ID_SIZE)) {
        other = other->next;
    }
    return other == client;
}

unsigned oc_waiting_jobs(const oc_waiting_t *waiting, const uint8_t *job_id)
{
    unsigned count = 1;
    const client_t *client;

    DL_FOREACH (waiting->clients, client) {
        count += waiting_is_first(waiting, client)
                 && 0 != memcmp(client->job_id, job_id, OC_JOB_ID_SIZE);
    }
    return count;
}

bool oc_waiting_add(oc_waiting_t *waiting, int fd, const oc_hello_t *hello, const uint8_t *bytes,
                    size_t length)
{
    client_t *client = waiting->count < MAX_WAITING ? malloc(sizeof(*client) + length) : NULL;

    if (NULL == client) {
        return false;
    }
    *client = (client_t) {.fd = fd, .deadline = oc_clock_ns() + PATIENCE, .length = length};
    memcpy(client->job_id, hello->job_id, OC_JOB_ID_SIZE);
    memcpy(client->bytes, bytes, length);
    DL_APPEND(waiting->clients, client);
    waiting->count++;
    return true;
}

static void waiting_release(oc_waiting_t *waiting, client_t *client)
{
    DL_DELETE(waiting->clients, client);
    waiting->count--;
    free(client);
}

void oc_waiting_serve(oc_waiting_t *waiting,
                      bool (*admit)(void *arg, int fd, const oc_hello_t *hello,
                                    const uint8_t *bytes, size_t length),
                      void *arg)
{
    client_t *client, *next;
    oc_control_t message;

    DL_FOREACH_SAFE (waiting->clients, client, next) {
        /* it was read once */
        (void) oc_control_decode(client->bytes, client->length, OC_MAX_HELLO_BODY, &message);
        if (admit(arg, client->fd, &message.hello, client->bytes, client->length)) {
            waiting_release(waiting, client);
        }
    }
}

void oc_waiting_refuse(oc_waiting_t *waiting, bool all, const char *reason)
{
    uint64_t now = oc_clock_ns();
    client_t *client, *next;

    DL_FOREACH_SAFE (waiting->clients, client, next) {
        if (all || now > client->deadline) {
            oc_refuse(client->fd, OC_ERR_REFUSED, reason);
            waiting_release(waiting, client);
        }
    }
}
