/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The helper's turns. It sleeps in one of three ways: for a while, because the application is at it or
 * has just been; on whatever the network wakes sleepers with; or until there is something to do. An
 * application that calls in all the time costs one short look each GRACE, or less often, and never a system call.
 */
#include "client/process/helper.h"

#include <poll.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/descriptors.h"
#include "base/log.h"
#include "base/threads.h"
#include "client/process/moving.h"
#include "client/recovery/returning.h"
#include "client/servers/connection.h"
#include "client/servers/exposure.h"

/* The application is taken to be at it for so long after its last call. */
#define GRACE OC_MILLISECOND

/*
 * Where more than one collective has begun in each GRACE since the last look, the helper looks again after twice as
 * long each time, up to this: each look is a switch of threads, which small operations that are waited for at once
 * would pay, and there is no helping them, as GRACE is not over when they are.
 */
#define LONGEST_GRACE (4 * OC_MILLISECOND)

/*
 * What no descriptor tells is looked for as often: connections, and what somebody else took the news of.
 * Who looks less often than once in 20 ms counts as absent in multicast.
 */
#define LONGEST_SLEEP (10 * OC_MILLISECOND)

/* With nothing to do for so long it sleeps until it is woken, which the next to begin has to pay. */
#define IDLE (20 * OC_MILLISECOND)

/* After so many turns without a sleep it takes one for others to get at the lock, or the processor. */
#define TURNS  64
#define BREATH (OC_MILLISECOND / 20)

typedef enum {
    AWAKE,              /* or for a while: it looks again by itself */
    ON_THE_NETWORK,     /* who moves the client on meanwhile takes what it waits for */
    UNTIL_WOKEN,
} sleep_t;

/* All under the lock of the client. */
struct oc_helper {
    pthread_t thread;
    int wake;           /* readable: to be looked at */
    sleep_t sleep;
    bool ending;
    uint64_t worked;    /* when there was something to do */
    uint64_t looked;    /* the last time … */
    unsigned begun;     /* … and how many collectives have begun since */
    uint64_t patience;  /* ns that it leaves the application alone if they are many */
    unsigned turns;     /* since the last sleep */
    bool heard;         /* a server has said something, or is gone */
};

static void helper_ring(oc_helper_t *helper)
{
    uint64_t one = 1;

    helper->sleep = AWAKE;
    (void) !write(helper->wake, &one, sizeof(one));
}

static void hear(const oc_helper_t *helper)
{
    uint64_t count;

    (void) !read(helper->wake, &count, sizeof(count));
}

/* What others wait for is not over with the last collective of this rank. */
static bool serves_others(const oc_client_t *client)
{
    return (client->helped || client->config.unattended)
           && (NULL != client->relays || client->cast_pending);
}

/* Collectives; otherwise it is only there for what comes after the loss of a server. */
static bool helper_moves(const oc_client_t *client)
{
    return OC_PROGRESS_THREAD == client->config.settings->progress;
}

static bool helper_has_work(const oc_client_t *client)
{
    if (0 != client->bound) {
        return false;
    }
    return client->renewals > 0 || client->inner > 0
           || (helper_moves(client)
               && (client->background > 0 || oc_exposure_is_tested(client) || serves_others(client)));
}

/* How long the application may be expected to go on; 0: it is not at it. */
static uint64_t is_driven(oc_client_t *client, uint64_t now)
{
    uint64_t since;

    if (atomic_exchange_explicit(&client->knocked, false, memory_order_relaxed)) {
        client->driven = now;
    }
    since = now - client->driven;
    if (atomic_load_explicit(&client->sleepers, memory_order_relaxed) > 0) {
        return GRACE;
    }
    return since < GRACE ? GRACE - since : 0;
}

/* Whether collectives begin too fast to be helped. */
static bool is_hasty(oc_helper_t *helper, uint64_t now)
{
    bool hasty = helper->begun * GRACE > now - helper->looked;

    helper->begun = 0;
    helper->looked = now;
    if (!hasty) {
        helper->patience = GRACE;
    } else if (helper->patience < LONGEST_GRACE) {
        helper->patience *= 2;
    }
    return hasty;
}

/* What a computing process is woken by. */
static int helper_watch(const oc_client_t *client, struct pollfd *fds)
{
    if (client->control_fd < 0 || 0 != client->bound) {
        return 0;
    }
    fds[0] = (struct pollfd) {.fd = client->control_fd, .events = POLLIN};
    return 1;
}

/* In how many ns a sleeper has to look: servers that hang say nothing, and others may wait for this process to see it. */
static uint64_t watch_due(const oc_client_t *client)
{
    uint64_t pings, returns;

    if (client->control_fd < 0 || 0 != client->bound) {
        return UINT64_MAX;
    }
    pings = oc_connections_due(client, oc_clock_ns());
    returns = oc_returning_due(client);
    return pings < returns ? pings : returns;
}

/* One look. Returns how many descriptors to sleep on, -1: not at all, and for how long at most. */
static int helper_turn(oc_client_t *client, struct pollfd *fds, uint64_t *timeout)
{
    oc_helper_t *helper = client->helper;
    uint64_t now = oc_clock_ns();
    bool hasty = is_hasty(helper, now);
    bool works = helper_has_work(client);
    int count;

    helper->sleep = AWAKE;
    if (!works && !helper->heard) {
        client->helped = false;
        if ((0 == client->background || !helper_moves(client)) && now - helper->worked > IDLE) {
            helper->sleep = UNTIL_WOKEN;
            *timeout = watch_due(client);
            return helper_watch(client, fds);
        }
        *timeout = helper->patience;
        return 0;
    }
    /* who only looks sleeps again at once */
    helper->worked = works ? now : helper->worked;
    *timeout = is_driven(client, now);
    if (0 != *timeout) {
        *timeout = hasty ? helper->patience : *timeout;
        return 0;
    }
    client->helped = true;
    helper->heard = false;
    oc_client_move(client);
    *timeout = LONGEST_SLEEP;
    count = oc_client_arm(client, fds, timeout);
    helper->sleep = count < 0 ? AWAKE : ON_THE_NETWORK;
    return count;
}

static void helper_sleep(const struct pollfd *fds, int count, uint64_t timeout)
{
    struct timespec limit = {.tv_sec = (time_t) (timeout / OC_SECOND),
                             .tv_nsec = (long) (timeout % OC_SECOND)};

    (void) ppoll((struct pollfd *) fds, (nfds_t) count, UINT64_MAX == timeout ? NULL : &limit, NULL);
}

/*
 * To all processors that the launcher may use, if these are more than the ranks. Those that ranks are bound to and
 * compute on are among them, and the choice is the kernel's: it wakes a thread that mostly sleeps on an idle processor
 * of the set, if there is one. Priority stays what it is: a thread that waits behind a computation moves nothing.
 */
static void choose_processors(const oc_client_t *client)
{
    if (NULL != client->config.processors
        && OC_BIND_AUTO == client->config.settings->local.bind) {
        (void) sched_setaffinity(0, sizeof(*client->config.processors),
                                 client->config.processors);
    }
}

/* Whether to go on at once; otherwise timeout may have become a short one. */
static bool goes_on(const oc_client_t *client, oc_helper_t *helper, int *count, uint64_t *timeout)
{
    if (*count < 0 && ++helper->turns < TURNS
        && 0 == atomic_load_explicit(&client->waiting, memory_order_relaxed)) {
        return true;
    }
    if (*count < 0) {
        *count = 0;
        *timeout = BREATH;
    }
    helper->turns = 0;
    return false;
}

static void *helper_run(void *arg)
{
    oc_client_t *client = arg;
    oc_helper_t *helper = client->helper;
    struct pollfd fds[1 + OC_CLIENT_MAX_FDS] = {{.fd = helper->wake, .events = POLLIN}};
    uint64_t timeout;
    bool sleeps;
    int count;

    oc_thread_default_arithmetic();
    choose_processors(client);
    pthread_mutex_lock(&client->lock);
    while (!helper->ending) {
        count = helper_turn(client, fds + 1, &timeout);
        pthread_mutex_unlock(&client->lock);
        sleeps = !goes_on(client, helper, &count, &timeout);
        if (sleeps) {
            helper_sleep(fds, 1 + count, timeout);
            hear(helper);
        }
        pthread_mutex_lock(&client->lock);
        helper->heard = sleeps && UNTIL_WOKEN == helper->sleep
                        && ((1 == count && 0 != fds[1].revents) || 0 == watch_due(client));
        client->config.counters->helper_wakes += sleeps;
    }
    pthread_mutex_unlock(&client->lock);
    return NULL;
}

/* Without one, collectives move while the application is in MPI, as ever. */
static void helper_start(oc_client_t *client)
{
    oc_helper_t *helper = calloc(1, sizeof(*helper));

    client->helper_tried = true;
    if (NULL == helper) {
        return;
    }
    helper->wake = oc_fd_make(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    helper->worked = oc_clock_ns();
    helper->looked = helper->worked;
    helper->patience = GRACE;
    client->helper = helper;
    if (helper->wake < 0
        || OC_OK != oc_thread_start(&helper->thread, "optcast-helper", helper_run, client)) {
        oc_warn("no thread can be started that moves collectives on while the program computes; they "
                "move on while it is in MPI");
        oc_fd_close(helper->wake);
        free(helper);
        client->helper = NULL;
    }
}

void oc_helper_watch(oc_client_t *client)
{
    if (!client->wants_watch || client->control_fd >= 0) {
        return;
    }
    oc_connections_watch(client);
    if (NULL != client->helper) {
        helper_ring(client->helper);
    } else if (!client->helper_tried) {
        helper_start(client);
    }
}

void oc_helper_notice(oc_client_t *client, bool background)
{
    client->driven = oc_clock_ns();
    if (!helper_moves(client) || (!background && !client->config.unattended)) {
        return;
    }
    if (NULL == client->helper) {
        if (!client->helper_tried) {
            helper_start(client);
        }
        return;
    }
    client->helper->begun++;
    if (AWAKE != client->helper->sleep) {
        helper_ring(client->helper);
    }
}

void oc_helper_give_way(oc_client_t *client)
{
    client->driven = client->now;
    client->helped = client->helped && client->background > 0;
    if (NULL != client->helper
        && (ON_THE_NETWORK == client->helper->sleep
            || (UNTIL_WOKEN == client->helper->sleep && oc_exposure_is_tested(client) && 0 == client->bound))) {
        helper_ring(client->helper);
    }
}

void oc_helper_end(oc_client_t *client)
{
    oc_helper_t *helper = client->helper;

    if (NULL == helper) {
        return;
    }
    pthread_mutex_lock(&client->lock);
    helper->ending = true;
    helper_ring(helper);
    pthread_mutex_unlock(&client->lock);
    (void) pthread_join(helper->thread, NULL);
    oc_fd_close(helper->wake);
    free(helper);
    client->helper = NULL;
}
