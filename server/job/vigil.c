/* SPDX-License-Identifier: BSD-3-Clause */
/* A flood test of which the sender is a rank, and this server a host that watches. */
#include "server/job/vigil.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include "base/clock.h"
#include "base/descriptors.h"
#include "base/log.h"
#include "multicast/flood/flood_test.h"
#include "server/host/turns.h"
#include "server/job/notice.h"

/* It takes half a second, and more if its sender computes meanwhile. */
#define LONGEST (10 * OC_SECOND)

/* Of this host: each has a filter that all packets of the interface pass. */
#define MOST_OF_HOST 4u

/* A turn is kept so long after its end: a job cannot have the next one at once. */
#define REST (3 * OC_SECOND)

/* Of a job, in all its life: each may join an address that the job has chosen. */
#define MOST_OF_JOB 4u

struct oc_vigil {
    oc_watch_t watch;          /* of marks */
    oc_session_t *session;     /* that has asked for it; NULL: it is over, and … */
    oc_flood_test_t *test;     /* … so is this */
    int turn;
    uint64_t end;              /* of the test at the latest, or of the turn */
};

/* The texts are those below, and fit. */
static void tell_sight(oc_session_t *session, uint64_t token, oc_view_t view, const char *text)
{
    oc_control_t message = {.type = OC_CONTROL_SIGHT};

    message.sight = (oc_sight_t) {
        .token = token, .view = (uint8_t) view,
        .text = {.data = (const uint8_t *) text, .length = (uint32_t) strlen(text)}};
    oc_session_send(session, &message);
}

static bool is_under_way(const oc_vigil_t *vigil)
{
    return NULL != vigil && NULL != vigil->session;
}

static void vigil_stop(oc_job_server_t *job)
{
    oc_vigil_t *vigil = job->vigil;

    if (vigil->watch.fd >= 0) {
        oc_loop_remove(job->loop, &vigil->watch);
        vigil->watch.fd = -1;
    }
    oc_flood_test_free(vigil->test);
    vigil->test = NULL;
    vigil->session = NULL;
}

/* Its turn has its rest. */
static void vigil_end(oc_job_server_t *job)
{
    vigil_stop(job);
    job->vigil->end = oc_clock_ns() + REST;
}

void oc_vigil_free(oc_job_server_t *job)
{
    if (NULL == job->vigil) {
        return;
    }
    vigil_stop(job);
    if (job->vigil->turn >= 0) {
        oc_fd_close(job->vigil->turn);
    }
    free(job->vigil);
    job->vigil = NULL;
}

static void on_mark(oc_watch_t *watch, uint32_t events)
{
    oc_vigil_t *vigil = (oc_vigil_t *) watch;

    (void) events;
    oc_flood_test_progress(vigil->test, oc_clock_ns());
}

/* The interface that the client's packets come to: its name, or an address of it. */
static bool find_way(const oc_session_t *session, char *text, size_t size)
{
    oc_sockaddr_t own = {.length = sizeof(own.address)};
    struct in6_addr mapped;

    if (0 != getsockname(session->stream.fd, (struct sockaddr *) &own.address, &own.length)
        || !oc_sockaddr_mapped(&own, &mapped)) {
        return false;
    }
    if (IN6_IS_ADDR_V4MAPPED(&mapped)) {
        return NULL != inet_ntop(AF_INET, &mapped.s6_addr[12], text, (socklen_t) size);
    }
    return oc_interface_of(&own, text, size);
}

/* false: error says why not. */
static bool choose_place(const oc_session_t *session, const oc_lookout_t *lookout,
                         oc_flood_place_t *place, char *error, size_t error_size)
{
    oc_job_server_t *job = session->job;
    char way[INET6_ADDRSTRLEN];

    *place = (oc_flood_place_t) {.probes = lookout->probes, .marks = lookout->marks,
                                 .port = lookout->port, .token = lookout->token};
    if (job->has_told_sight) {
        snprintf(error, error_size, "another process of the job knows already");
    } else if (NULL != job->vigil) {
        snprintf(error, error_size, "the job has a test under way, or has just had one");
    } else if (job->vigils++ >= MOST_OF_JOB) {
        job->vigils = MOST_OF_JOB;
        snprintf(error, error_size, "the job has tried %u times", MOST_OF_JOB);
    } else if (!find_way(session, way, sizeof(way))) {
        snprintf(error, error_size, "no interface has the address of this connection");
    } else {
        return OC_OK == oc_flood_place_find(way, place, error, error_size);
    }
    return false;
}

/* false: there is no memory, or no turn, and error says so. */
static bool vigil_open(oc_vigil_t *vigil, const oc_flood_place_t *place,
                       const oc_lookout_t *lookout, char *error, size_t error_size)
{
    vigil->turn = oc_turn_take("vigil", MOST_OF_HOST);
    if (vigil->turn < 0) {
        snprintf(error, error_size, "%u other tests are under way on this host", MOST_OF_HOST);
        return false;
    }
    vigil->test = oc_flood_test_new(place, OC_FLOOD_WATCHER, lookout->key);
    if (NULL == vigil->test) {
        snprintf(error, error_size, "out of memory");
        return false;
    }
    return true;
}

/* Without marks packets may still tell. */
static void await_marks(oc_vigil_t *vigil)
{
    vigil->watch = (oc_watch_t) {.fd = oc_flood_test_fd(vigil->test), .ready = on_mark};
    if (vigil->watch.fd >= 0
        && OC_OK != oc_loop_add(vigil->session->job->loop, &vigil->watch, EPOLLIN)) {
        vigil->watch.fd = -1;
    }
}

static bool vigil_new(oc_session_t *session, const oc_lookout_t *lookout, char *error,
                      size_t error_size)
{
    oc_job_server_t *job = session->job;
    oc_flood_place_t place;
    oc_vigil_t *vigil;

    if (!choose_place(session, lookout, &place, error, error_size)) {
        return false;
    }
    vigil = calloc(1, sizeof(*vigil));
    if (NULL == vigil) {
        snprintf(error, error_size, "out of memory");
        return false;
    }
    *vigil = (oc_vigil_t) {.watch.fd = -1, .session = session, .turn = -1,
                           .end = oc_clock_ns() + LONGEST};
    job->vigil = vigil;
    if (!vigil_open(vigil, &place, lookout, error, error_size)) {
        oc_vigil_free(job);
        return false;
    }
    await_marks(vigil);
    return true;
}

void oc_vigil_begin(oc_session_t *session, const oc_lookout_t *lookout)
{
    char error[256];

    if (vigil_new(session, lookout, error, sizeof(error))) {
        tell_sight(session, lookout->token, OC_VIEW_OPEN,
                   session->job->vigil->test->place.interface.name);
    } else {
        oc_debug("no test whether multicast floods this server: %s", error);
        tell_sight(session, lookout->token, OC_VIEW_NONE, error);
    }
}

static void vigil_conclude(oc_session_t *session, oc_flood_verdict_t verdict)
{
    static const oc_view_t views[OC_FLOOD_VERDICTS] = {[OC_FLOOD_BLIND] = OC_VIEW_BLIND,
                                                       [OC_FLOOD_GUARDED] = OC_VIEW_GUARDED,
                                                       [OC_FLOOD_FLOODED] = OC_VIEW_FLOODED};
    const oc_flood_test_t *test = session->job->vigil->test;

    if (OC_FLOOD_UNKNOWN == verdict) {
        tell_sight(session, test->place.token, OC_VIEW_NONE,
                   "this server looked too late, or a program on its host has joined the address");
        return;
    }
    if (OC_FLOOD_FLOODED == verdict) {
        oc_info("multicast that no program of this host has joined arrives on %s: IGMP snooping is "
                "off, or has no querier", test->place.interface.name);
    }
    session->job->has_told_sight = session->job->has_told_sight || OC_FLOOD_FLOODED == verdict;
    tell_sight(session, test->place.token, views[verdict], test->place.interface.name);
}

void oc_vigil_look(oc_session_t *session, uint64_t token)
{
    const oc_vigil_t *vigil = session->job->vigil;

    if (!is_under_way(vigil) || vigil->session != session || vigil->test->place.token != token) {
        tell_sight(session, token, OC_VIEW_NONE, "there is no such test any more");
        return;
    }
    vigil_conclude(session, oc_flood_test_verdict(vigil->test));
    vigil_end(session->job);
}

void oc_vigil_forget(const oc_session_t *session)
{
    oc_job_server_t *job = session->job;

    if (NULL != job->vigil && session == job->vigil->session) {
        vigil_end(job);
    }
}

void oc_vigil_tick(oc_job_server_t *job, uint64_t now)
{
    if (NULL == job->vigil || now <= job->vigil->end) {
        return;
    }
    if (is_under_way(job->vigil)) {
        oc_debug("nobody asks any more whether multicast floods this server");
        vigil_end(job);
    } else {
        oc_vigil_free(job);
    }
}
