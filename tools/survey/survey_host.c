/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One thing at a time: a message of the coordinator, and its answer, which may have to wait for
 * datagrams or for the flood test.
 */
#include "tools/survey/survey_host.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "base/clock.h"
#include "base/descriptors.h"
#include "multicast/flood/flood_test.h"
#include "multicast/transport/cast_address.h"
#include "multicast/transport/udp.h"
#include "tools/survey/survey_probe.h"

/* The coordinator may have to wait for another host that long, before it says what is next. */
#define PATIENCE (120 * OC_SECOND)

#define SEND_PATIENCE (10 * OC_SECOND)

typedef enum {
    NOTHING,                   /* is owed to the coordinator */
    COUNTS,                    /* when all of a step has come, or at the deadline */
    FLOOD_SENT                 /* when this host has sent its part */
} owed_t;

typedef struct {
    oc_survey_link_t *link;
    const oc_job_settings_t *settings;
    oc_survey_plan_t plan;
    oc_interface_t interface;
    oc_transport_t *transport; /* NULL: it has not joined */
    oc_survey_probes_t *probes;
    oc_flood_test_t *flood;    /* NULL: there is none now */
    owed_t owed;
    uint64_t deadline;         /* of what is owed; later while datagrams come, until … */
    uint64_t last_deadline;    /* … then */
    uint64_t patience;         /* ns without datagrams */
    bool over;
} host_t;

/* ---- what this host is ---- */

/* 0: the system does not say. */
static uint64_t read_limit(const char *path)
{
    FILE *file = fopen(path, "re");
    unsigned long long value = 0;

    if (NULL != file) {
        if (1 != fscanf(file, "%llu", &value)) {
            value = 0;
        }
        fclose(file);
    }
    return value;
}

static bool may_see_packets(void)
{
    int fd = oc_fd_make(socket(AF_PACKET, SOCK_DGRAM | SOCK_CLOEXEC, 0));

    if (fd >= 0) {
        oc_fd_close(fd);
    }
    return fd >= 0;
}

/* false, with the reason. */
static bool join(host_t *host, oc_survey_facts_t *facts)
{
    oc_udp_config_t config = {.interface = &host->interface, .group = {host->plan.address},
                              .port = host->plan.port, .staging = (size_t) host->plan.staging,
                              .send_buffer = OC_UDP_SEND_BUFFER, .rate = host->plan.rate};

    if (OC_OK != oc_udp_open(&config, &host->transport, facts->reason, sizeof(facts->reason))) {
        return false;
    }
    host->probes = oc_survey_probes_new(host->transport, &host->plan);
    if (NULL == host->probes) {
        snprintf(facts->reason, sizeof(facts->reason), "out of memory, or libcrypto does not work");
        return false;
    }
    facts->staging = host->transport->staging;
    facts->datagram_size = (uint32_t) host->transport->datagram_size;
    return true;
}

static void tell_facts(host_t *host, oc_survey_facts_t *facts)
{
    struct in_addr group = {.s_addr = host->plan.address};
    const char *interface = host->settings->multicast_interface;

    facts->rmem_max = read_limit("/proc/sys/net/core/rmem_max");
    facts->memberships = (uint32_t) read_limit("/proc/sys/net/ipv4/igmp_max_memberships");
    facts->sees_packets = may_see_packets();
    if (OC_OK != oc_interface_find(interface, group, &host->interface, facts->reason,
                                   sizeof(facts->reason))) {
        return;
    }
    snprintf(facts->interface, sizeof(facts->interface), "%s", host->interface.name);
    facts->address = host->interface.address.s_addr;
    facts->mtu = host->interface.mtu;
    facts->may_flood = oc_interface_floods(&host->interface);
    facts->joined = join(host, facts);
}

/* ---- the flood test ---- */

static bool begin_flood(host_t *host, oc_flood_role_t role)
{
    oc_flood_place_t place = {.interface = host->interface, .port = host->plan.port,
                              .probes = {.s_addr = host->plan.probes},
                              .marks = {.s_addr = host->plan.marks},
                              .token = host->plan.token};

    oc_flood_test_free(host->flood);
    host->flood = oc_flood_test_new(&place, role, host->plan.key);
    return NULL != host->flood;
}

static uint32_t end_flood(host_t *host)
{
    oc_flood_verdict_t verdict = OC_FLOOD_BLIND;

    if (NULL != host->flood) {
        verdict = oc_flood_test_verdict(host->flood);
        oc_flood_test_free(host->flood);
        host->flood = NULL;
    }
    return verdict;
}

/* ---- messages ---- */

static bool answer(host_t *host, oc_survey_message_t *message)
{
    return oc_survey_link_send(host->link, message, oc_clock_ns() + SEND_PATIENCE);
}

static bool answer_counts(host_t *host, const oc_survey_counts_t *counts)
{
    oc_survey_message_t message = {.type = OC_SURVEY_COUNTS};

    if (NULL != counts) {
        message.counts = *counts;
    }
    return answer(host, &message);
}

static bool answer_verdict(host_t *host, uint32_t verdict)
{
    oc_survey_message_t message = {.type = OC_SURVEY_VERDICT, .verdict = verdict};

    return answer(host, &message);
}

static bool do_step(host_t *host, const oc_survey_message_t *message)
{
    oc_survey_counts_t counts = {0};

    if (OC_SURVEY_COUNT == message->type && message->step.sender == host->plan.host) {
        return answer_counts(host, NULL); /* its own do not come back */
    }
    if (NULL == host->probes
        || OC_DATAGRAM_HEADER + message->step.length > host->transport->datagram_size) {
        return answer_counts(host, NULL);
    }
    if (OC_SURVEY_LISTEN == message->type) {
        oc_survey_probes_listen(host->probes, &message->step);
    } else if (OC_SURVEY_SEND == message->type) {
        counts = oc_survey_probes_send(host->probes, &message->step);
    } else {
        host->owed = COUNTS;
        host->patience = message->step.patience * OC_MILLISECOND;
        host->deadline = oc_clock_ns() + host->patience;
        host->last_deadline = host->deadline + SEND_PATIENCE / 2;
        return true;
    }
    return answer_counts(host, &counts);
}

static bool do_plan(host_t *host, const oc_survey_plan_t *plan)
{
    oc_survey_message_t message = {.type = OC_SURVEY_FACTS};

    host->plan = *plan;
    tell_facts(host, &message.facts);
    return answer(host, &message);
}

/* false: it makes no sense, or there is nobody to answer. */
static bool handle(host_t *host, const oc_survey_message_t *message)
{
    if (OC_SURVEY_END != message->type
        && (0 == host->plan.hosts) != (OC_SURVEY_PLAN == message->type)) {
        return false; /* the plan comes first, and once */
    }
    switch (message->type) {
    case OC_SURVEY_PLAN:
        return do_plan(host, &message->plan);
    case OC_SURVEY_LISTEN:
    case OC_SURVEY_SEND:
    case OC_SURVEY_COUNT:
        return do_step(host, message);
    case OC_SURVEY_FLOOD:
        if (0 != host->interface.index) {
            (void) begin_flood(host, (oc_flood_role_t) message->role);
        }
        return answer_verdict(host, OC_FLOOD_UNKNOWN);
    case OC_SURVEY_FLOOD_SEND:
        host->owed = FLOOD_SENT;
        host->deadline = oc_clock_ns() + SEND_PATIENCE;
        return true;
    case OC_SURVEY_FLOOD_END:
        return answer_verdict(host, end_flood(host));
    case OC_SURVEY_END:
        host->over = true;
        return true;
    default:
        return false;
    }
}

/* ---- life ---- */

/* Answers what is owed, if it is time. false: nobody is there. */
static bool settle(host_t *host, uint64_t now)
{
    oc_survey_counts_t counts;

    if (COUNTS == host->owed
        && (oc_survey_probes_are_complete(host->probes) || now >= host->deadline)) {
        host->owed = NOTHING;
        counts = oc_survey_probes_counts(host->probes);
        return answer_counts(host, &counts);
    }
    if (FLOOD_SENT == host->owed
        && (NULL == host->flood || oc_flood_test_is_sent(host->flood, now)
            || now >= host->deadline)) {
        host->owed = NOTHING;
        return answer_verdict(host, OC_FLOOD_UNKNOWN);
    }
    return true;
}

static void host_progress(host_t *host, uint64_t now)
{
    if (NULL != host->probes && oc_survey_probes_progress(host->probes)
        && now + host->patience < host->last_deadline) {
        host->deadline = now + host->patience;
    }
    if (NULL != host->flood) {
        oc_flood_test_progress(host->flood, now);
    }
}

/* Until something comes, or it is time to do something. */
static void host_sleep(host_t *host, uint64_t end)
{
    struct pollfd fds[3] = {{.fd = host->link->fd, .events = POLLIN}, {.fd = -1}, {.fd = -1}};
    uint64_t now = oc_clock_ns(), until = end;

    if (NOTHING != host->owed && host->deadline < until) {
        until = host->deadline;
    }
    if (NULL != host->probes) {
        if (!host->transport->ops->arm(host->transport, false)) {
            return;
        }
        fds[1] = (struct pollfd) {.fd = host->transport->event_fd,
                                  .events = host->transport->events};
    }
    if (NULL != host->flood) {
        fds[2] = (struct pollfd) {.fd = oc_flood_test_fd(host->flood), .events = POLLIN};
        until = oc_flood_test_due(host->flood) < until ? oc_flood_test_due(host->flood) : until;
    }
    if (until > now) {
        (void) poll(fds, 3, (int) ((until - now + OC_MILLISECOND - 1) / OC_MILLISECOND));
    }
}

/* Messages until the end; the sentence says why there are no more. */
static bool host_live(host_t *host, uint64_t end, char *error, size_t error_size)
{
    oc_survey_message_t message;
    oc_status_t status;

    while (!host->over && oc_clock_ns() < end) {
        host_progress(host, oc_clock_ns());
        if (!settle(host, oc_clock_ns())) {
            break;
        }
        status = oc_survey_link_take(host->link, &message);
        if (OC_IN_PROGRESS == status) {
            host_sleep(host, end);
            continue;
        }
        if (OC_OK == status && OC_SURVEY_REFUSED == message.type) {
            snprintf(error, error_size, "the coordinator says: %s", message.text);
            return false;
        }
        if (OC_OK != status || !handle(host, &message)) {
            break;
        }
        end = oc_clock_ns() + PATIENCE;
    }
    if (!host->over) {
        snprintf(error, error_size, oc_clock_ns() >= end
                 ? "the coordinator is silent: not all hosts have come"
                 : "the coordinator has ended: see what it says");
    }
    return host->over;
}

bool oc_survey_host_run(oc_survey_link_t *link, const oc_survey_hello_t *hello,
                        const oc_job_settings_t *settings, uint64_t end, char *error,
                        size_t error_size)
{
    host_t host = {.link = link, .settings = settings};
    oc_survey_message_t message = {.type = OC_SURVEY_HELLO, .hello = *hello};
    bool good = oc_survey_link_send(link, &message, oc_clock_ns() + SEND_PATIENCE);

    if (good) {
        good = host_live(&host, end, error, error_size);
    } else {
        snprintf(error, error_size, "the coordinator has ended: see what it says");
    }
    oc_flood_test_free(host.flood);
    oc_survey_probes_free(host.probes);
    if (NULL != host.transport) {
        host.transport->ops->close(host.transport);
    }
    return good;
}
