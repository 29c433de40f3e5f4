/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * All in lock-step: nobody sends before all others listen, and nobody else while one sends. So what
 * is lost is lost for want of room or of a way, and not because somebody else was in the way.
 */
#include "tools/survey/survey_control.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

#include "base/clock.h"
#include "multicast/flood/flood_test.h"
#include "multicast/transport/cast_address.h"
#include "multicast/transport/transport.h"

#define ANSWER    (20 * OC_SECOND)

/* After the hosts have joined: switches need a moment to learn it. */
#define SETTLE_S  1

/* That is how long receivers wait when nothing more comes. */
#define PATIENCE_MS 150

/* All bursts together: no network is to be busy for long. */
#define ALL_BURSTS (256u << 20)
#define FEWEST     2u

#define FLOOD_TRIES 3u
#define PROBE_TRIES 2u

/* Headers of IP, UDP and Ethernet with its checksum, preamble and gap, beside a datagram. */
#define BESIDE (28u + 38u)

typedef struct {
    oc_survey_guest_t *guests;
    oc_survey_t *survey;
    uint32_t step;
    char *error;
    size_t error_size;
} control_t;

/* ---- one message to all, and the answers ---- */

static bool control_fails(control_t *control, uint32_t host, const char *what)
{
    snprintf(control->error, control->error_size, "%s %s: see what it says",
             control->guests[host].hello.name, what);
    return false;
}

static bool tell(control_t *control, uint32_t host, const oc_survey_message_t *message)
{
    return oc_survey_link_send(&control->guests[host].link, message, oc_clock_ns() + ANSWER)
           || control_fails(control, host, "has ended in the middle");
}

static bool hear(control_t *control, uint32_t host, oc_survey_type_t type,
                 oc_survey_message_t *message)
{
    oc_status_t status = oc_survey_link_await(&control->guests[host].link, message,
                                              oc_clock_ns() + ANSWER);

    if (OC_ERR_TIMEOUT == status) {
        return control_fails(control, host, "does not answer any more");
    }
    if (OC_ERR_UNREACHABLE == status) {
        return control_fails(control, host, "has ended in the middle");
    }
    return (OC_OK == status && type == message->type)
           || control_fails(control, host, "says what makes no sense");
}

/* What to do with the answer of a host. */
typedef void take_fn_t(control_t *control, uint32_t host, const oc_survey_message_t *answer,
                       const void *arg);

/* take may be NULL. */
static bool ask_all(control_t *control, const oc_survey_message_t *message,
                    oc_survey_type_t type, take_fn_t *take, const void *arg)
{
    oc_survey_message_t heard;

    for (uint32_t i = 0; i < control->survey->hosts; i++) {
        if (!tell(control, i, message)) {
            return false;
        }
    }
    for (uint32_t i = 0; i < control->survey->hosts; i++) {
        if (!hear(control, i, type, &heard)) {
            return false;
        }
        if (NULL != take) {
            take(control, i, &heard, arg);
        }
    }
    return true;
}

/* ---- who takes part ---- */

static bool make_plan(const oc_job_settings_t *settings, oc_survey_plan_t *plan, uint32_t hosts,
                      char *error, size_t error_size)
{
    uint8_t identity[OC_JOB_ID_SIZE];
    oc_multicast_range_t range;
    char why[OC_SURVEY_REASON];

    *plan = (oc_survey_plan_t) {.hosts = hosts, .port = (uint16_t) settings->multicast_port,
                                .rate = (uint32_t) settings->multicast_rate,
                                .staging = settings->multicast_staging};
    if (sizeof(identity) != getrandom(identity, sizeof(identity), 0)
        || sizeof(plan->token) != getrandom(&plan->token, sizeof(plan->token), 0)
        || sizeof(plan->key) != getrandom(plan->key, sizeof(plan->key), 0)) {
        snprintf(error, error_size, "the system has no random numbers");
        return false;
    }
    if (OC_OK != oc_multicast_range(settings->multicast_address, identity,
                                    (unsigned) settings->multicast_groups, &range, why,
                                    sizeof(why))) {
        snprintf(error, error_size, "coll_optcast_multicast_address: %s", why);
        return false;
    }
    plan->address = oc_multicast_common(&range).s_addr;
    plan->probes = oc_multicast_spare(&range, 0).s_addr;
    plan->marks = oc_multicast_spare(&range, 1).s_addr;
    return true;
}

static bool gather_facts(control_t *control, oc_survey_plan_t *plan)
{
    oc_survey_message_t message = {.type = OC_SURVEY_PLAN};

    for (uint32_t i = 0; i < control->survey->hosts; i++) {
        message.plan = *plan;
        message.plan.host = i;
        if (!tell(control, i, &message)) {
            return false;
        }
    }
    for (uint32_t i = 0; i < control->survey->hosts; i++) {
        oc_survey_host_t *host = &control->survey->host[i];

        if (!hear(control, i, OC_SURVEY_FACTS, &message)) {
            return false;
        }
        memcpy(host->name, control->guests[i].hello.name, sizeof(host->name));
        host->facts = message.facts;
    }
    return true;
}

/* What all can send, and what all have room for. */
static void choose_sizes(oc_survey_t *survey, size_t window)
{
    uint32_t staging = OC_SURVEY_MOST;

    for (uint32_t i = 0; i < survey->hosts; i++) {
        const oc_survey_facts_t *facts = &survey->host[i].facts;

        if (facts->joined) {
            survey->size = 0 == survey->size || facts->datagram_size < survey->size
                               ? facts->datagram_size : survey->size;
            staging = facts->staging < staging ? facts->staging : staging;
        }
    }
    survey->window = (uint32_t) window;
    if (0 != survey->size) {
        survey->in_burst = survey->window / survey->size;
        survey->in_burst = survey->in_burst < staging ? survey->in_burst : staging;
        survey->in_burst = 0 == survey->in_burst ? 1 : survey->in_burst;
    }
}

/* ---- datagrams ---- */

/* What the answers of a step belong to. */
typedef struct {
    uint32_t sender;
    bool burst;
} part_t;

static void take_rate(const oc_survey_t *survey, const oc_survey_counts_t *counts,
                      oc_survey_pair_t *pair)
{
    double bytes = (double) counts->spanned * (survey->size + BESIDE);

    if (0 != counts->span && pair->rates < OC_SURVEY_BURSTS) {
        pair->rate[pair->rates++] = (float) (8e3 * bytes / (double) counts->span);
    }
}

static void take_counts(control_t *control, uint32_t host, const oc_survey_message_t *answer,
                        const void *arg)
{
    const part_t *part = arg;
    const oc_survey_counts_t *counts = &answer->counts;
    oc_survey_pair_t *pair = oc_survey_pair(control->survey, part->sender, host);

    pair->doubled += counts->doubled;
    if (part->burst) {
        pair->burst += counts->full;
        take_rate(control->survey, counts, pair);
    } else {
        pair->small = counts->small;
        pair->full = counts->full;
    }
}

static bool run_step(control_t *control, const part_t *part, uint32_t small, uint32_t full)
{
    oc_survey_message_t message = {.type = OC_SURVEY_LISTEN}, sent;

    message.step = (oc_survey_step_t) {.number = ++control->step, .sender = part->sender,
                                       .small = small, .full = full, .patience = PATIENCE_MS,
                                       .length = control->survey->size - OC_DATAGRAM_HEADER};
    if (!ask_all(control, &message, OC_SURVEY_COUNTS, NULL, NULL)) {
        return false;
    }
    message.type = OC_SURVEY_SEND;
    if (!tell(control, part->sender, &message)
        || !hear(control, part->sender, OC_SURVEY_COUNTS, &sent)) {
        return false;
    }
    if (part->burst) {
        control->survey->host[part->sender].burst += sent.counts.full;
    }
    message.type = OC_SURVEY_COUNT;
    return ask_all(control, &message, OC_SURVEY_COUNTS, take_counts, part);
}

/* Whether all that it has sent one by one was lost on the way to one of the others. */
static bool is_missed(const oc_survey_t *survey, uint32_t sender)
{
    for (uint32_t other = 0; other < survey->hosts; other++) {
        const oc_survey_pair_t *pair = oc_survey_pair(survey, sender, other);

        if (other != sender && oc_survey_takes_part(survey, other) && 0 == pair->small + pair->full) {
            return true;
        }
    }
    return false;
}

/* Who was missed sends again: switches may need longer than it takes as a rule to let a host in. */
static bool run_probes(control_t *control)
{
    bool missed = true;

    for (unsigned try = 0; try < PROBE_TRIES && missed; try++) {
        nanosleep(&(struct timespec) {.tv_sec = SETTLE_S}, NULL);
        missed = false;
        for (uint32_t i = 0; i < control->survey->hosts; i++) {
            part_t part = {.sender = i};

            if (!oc_survey_takes_part(control->survey, i) || (try > 0 && !is_missed(control->survey, i))) {
                continue;
            }
            if (!run_step(control, &part, OC_SURVEY_PROBES, OC_SURVEY_PROBES)) {
                return false;
            }
            missed = missed || is_missed(control->survey, i);
        }
    }
    return true;
}

/* Whether what it sends in full size has reached anybody. */
static bool is_heard(const oc_survey_t *survey, uint32_t sender)
{
    for (uint32_t other = 0; other < survey->hosts; other++) {
        if (oc_survey_pair(survey, sender, other)->full > 0) {
            return true;
        }
    }
    return false;
}

static uint32_t count_bursts(const oc_survey_t *survey)
{
    uint64_t one = (uint64_t) survey->in_burst * survey->size * survey->hosts;
    uint64_t count = ALL_BURSTS / (0 == one ? 1 : one);

    count = count < FEWEST ? FEWEST : count;
    return count > OC_SURVEY_BURSTS ? OC_SURVEY_BURSTS : (uint32_t) count;
}

static bool run_bursts(control_t *control)
{
    uint32_t bursts = count_bursts(control->survey);

    for (uint32_t i = 0; i < control->survey->hosts; i++) {
        part_t part = {.sender = i, .burst = true};

        for (uint32_t n = 0; n < bursts && is_heard(control->survey, i); n++) {
            if (!run_step(control, &part, 0, control->survey->in_burst)) {
                return false;
            }
        }
    }
    return true;
}

/* ---- the flood test ---- */

static void take_verdict(control_t *control, uint32_t host, const oc_survey_message_t *answer,
                         const void *arg)
{
    (void) arg;
    control->survey->host[host].verdict = answer->verdict;
}

/* The first that takes part sends; then every second one looks, and the others join. */
static bool begin_floods(control_t *control, uint32_t *sender)
{
    oc_survey_message_t message = {.type = OC_SURVEY_FLOOD}, heard;
    uint32_t part = 0;

    for (uint32_t i = 0; i < control->survey->hosts; i++) {
        oc_survey_host_t *host = &control->survey->host[i];

        message.role = OC_FLOOD_IDLE;
        if (host->facts.joined) {
            message.role = 0 == part ? OC_FLOOD_SENDER
                                     : part % 2 ? OC_FLOOD_WATCHER : OC_FLOOD_MEMBER;
            *sender = 0 == part ? i : *sender;
            part++;
        }
        host->watched = OC_FLOOD_WATCHER == message.role;
        if (!tell(control, i, &message) || !hear(control, i, OC_SURVEY_VERDICT, &heard)) {
            return false;
        }
    }
    return true;
}

static bool run_flood(control_t *control)
{
    oc_survey_message_t message = {.type = OC_SURVEY_FLOOD_SEND}, heard;
    uint32_t sender = 0;

    if (!begin_floods(control, &sender) || !tell(control, sender, &message)
        || !hear(control, sender, OC_SURVEY_VERDICT, &heard)) {
        return false;
    }
    message.type = OC_SURVEY_FLOOD_END;
    return ask_all(control, &message, OC_SURVEY_VERDICT, take_verdict, NULL);
}

/* Somebody who was to look was elsewhere, and may tell another time. */
static bool is_open(const oc_survey_t *survey)
{
    for (uint32_t i = 0; i < survey->hosts; i++) {
        if (survey->host[i].watched && OC_FLOOD_UNKNOWN == survey->host[i].verdict) {
            return true;
        }
    }
    return false;
}

static bool run_floods(control_t *control)
{
    oc_survey_t *survey = control->survey;
    uint32_t parts = 0;

    for (uint32_t i = 0; i < survey->hosts; i++) {
        parts += survey->host[i].facts.joined;
        survey->flood_tested = survey->flood_tested
                               || (survey->host[i].facts.joined && survey->host[i].facts.may_flood);
    }
    survey->flood_tested = survey->flood_tested && parts >= 2;
    for (unsigned i = 0; survey->flood_tested && i < FLOOD_TRIES; i++) {
        if (!run_flood(control)) {
            return false;
        }
        if (!is_open(survey)) {
            break;
        }
    }
    return true;
}

/* ---- all ---- */

bool oc_survey_control(oc_survey_guest_t *guests, uint32_t count,
                       const oc_job_settings_t *settings, oc_survey_t *survey,
                       oc_survey_plan_t *plan, char *error, size_t error_size)
{
    control_t control = {.guests = guests, .survey = survey, .error = error,
                         .error_size = error_size};

    *survey = (oc_survey_t) {.hosts = count};
    survey->host = calloc(count, sizeof(*survey->host));
    survey->pairs = calloc((size_t) count * count, sizeof(*survey->pairs));
    if (NULL == survey->host || NULL == survey->pairs) {
        snprintf(error, error_size, "out of memory");
        return false;
    }
    if (!make_plan(settings, plan, count, error, error_size) || !gather_facts(&control, plan)) {
        return false;
    }
    choose_sizes(survey, settings->multicast_window);
    return run_probes(&control) && run_bursts(&control) && run_floods(&control);
}

void oc_survey_free(oc_survey_t *survey)
{
    free(survey->host);
    free(survey->pairs);
}
