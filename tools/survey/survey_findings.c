/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What is wrong with one host is wrong between it and all others: so it is said of the host, and
 * only what remains is said of pairs.
 */
#include "tools/survey/survey_findings.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "multicast/flood/flood_judge.h"

#define NAMED 8u               /* hosts that a sentence names */
#define TEXT  256              /* bytes of their names, as far as there is room */
#define BURST_LOSS 0.001       /* what is repaired without being noticed */

/* ---- parts ---- */

static void add(oc_survey_findings_t *findings, oc_survey_severity_t severity, const char *kind,
                const char *format, ...) __attribute__((format(printf, 4, 5)));

static void add(oc_survey_findings_t *findings, oc_survey_severity_t severity, const char *kind,
                const char *format, ...)
{
    oc_survey_finding_t *finding;
    va_list args;

    findings->worst = severity > findings->worst ? severity : findings->worst;
    if (OC_SURVEY_FINDINGS == findings->count) {
        findings->left_out++;
        return;
    }
    finding = &findings->list[findings->count++];
    finding->severity = severity;
    finding->kind = kind;
    va_start(args, format);
    vsnprintf(finding->text, sizeof(finding->text), format, args);
    va_end(args);
}

/* Both take part, and are not the same. */
static bool is_pair(const oc_survey_t *survey, uint32_t sender, uint32_t receiver)
{
    return sender != receiver && oc_survey_takes_part(survey, sender) && oc_survey_takes_part(survey, receiver);
}

uint32_t oc_survey_names(const oc_survey_t *survey, const bool *chosen, char *text, size_t size)
{
    uint32_t count = 0;
    size_t used = 0;

    text[0] = '\0';
    for (uint32_t i = 0; i < survey->hosts; i++) {
        if (chosen[i] && count++ < NAMED && used < size) {
            used += (size_t) snprintf(text + used, size - used, "%s%s", used > 0 ? ", " : "",
                                      survey->host[i].name);
        }
    }
    if (count > NAMED && used < size) {
        snprintf(text + used, size - used, " and %u more", count - NAMED);
    }
    return count;
}

oc_survey_passage_t oc_survey_passage(const oc_survey_pair_t *pair)
{
    if (OC_SURVEY_PROBES == pair->full && OC_SURVEY_PROBES == pair->small) {
        return OC_SURVEY_ALL;
    }
    if (pair->full > 0) {
        return OC_SURVEY_SOME;
    }
    return pair->small > 0 ? OC_SURVEY_SMALL_ONLY : OC_SURVEY_NONE;
}

double oc_survey_burst_loss(const oc_survey_t *survey, uint32_t sender, uint32_t receiver)
{
    uint32_t sent = survey->host[sender].burst;
    uint32_t come = oc_survey_pair(survey, sender, receiver)->burst;

    return 0 == sent || come >= sent ? 0 : (double) (sent - come) / sent;
}

static int by_rate(const void *a, const void *b)
{
    const float *x = a, *y = b;

    return (*x > *y) - (*x < *y);
}

double oc_survey_rate(const oc_survey_pair_t *pair)
{
    float rates[OC_SURVEY_BURSTS];

    if (0 == pair->rates) {
        return 0;
    }
    memcpy(rates, pair->rate, sizeof(rates));
    qsort(rates, pair->rates, sizeof(rates[0]), by_rate);
    return (double) rates[pair->rates / 2];
}

/* ---- hosts ---- */

static void find_absent(const oc_survey_t *survey, oc_survey_findings_t *findings)
{
    for (uint32_t i = 0; i < survey->hosts; i++) {
        if (!oc_survey_takes_part(survey, i)) {
            add(findings, OC_SURVEY_FAULT, "join", "%s takes no part: %s", survey->host[i].name,
                survey->host[i].facts.reason);
        }
    }
}

static void find_sizes(const oc_survey_t *survey, oc_survey_findings_t *findings)
{
    uint32_t least = UINT32_MAX, most = 0, small = 0, large = 0;

    for (uint32_t i = 0; i < survey->hosts; i++) {
        uint32_t mtu = survey->host[i].facts.mtu;

        if (oc_survey_takes_part(survey, i) && mtu < least) {
            least = mtu;
            small = i;
        }
        if (oc_survey_takes_part(survey, i) && mtu > most) {
            most = mtu;
            large = i;
        }
    }
    if (most > least) {
        add(findings, OC_SURVEY_FLAW, "mtu", "hosts have different MTUs: %s %u, and %s %u; "
            "datagrams of all hosts are as large as the smallest allows", survey->host[small].name, least,
            survey->host[large].name, most);
    }
}

static void find_buffers(const oc_survey_t *survey, oc_survey_findings_t *findings, bool *chosen)
{
    char names[TEXT];

    for (uint32_t i = 0; i < survey->hosts; i++) {
        chosen[i] = oc_survey_takes_part(survey, i)
                    && (uint64_t) survey->host[i].facts.staging * survey->size < survey->window;
    }
    if (oc_survey_names(survey, chosen, names, sizeof(names)) > 0) {
        add(findings, OC_SURVEY_REMARK, "buffers", "%s: the kernel keeps less than the %u bytes of "
            "coll_optcast_multicast_window for a socket, so that fewer are in flight, which is "
            "slower: raise net.core.rmem_max", names, survey->window);
    }
}

/* ---- what does not arrive at all ---- */

typedef enum { SENDERS, RECEIVERS } side_t;

/* One end of a pair: that of the side, and the other one. */
static const oc_survey_pair_t *pair_at(const oc_survey_t *survey, side_t side, uint32_t host,
                                       uint32_t other)
{
    return SENDERS == side ? oc_survey_pair(survey, host, other)
                           : oc_survey_pair(survey, other, host);
}

/* Whether it is so between the host and all others; false if there are none. */
static bool is_so_with_all(const oc_survey_t *survey, side_t side, uint32_t host,
                           oc_survey_passage_t passage)
{
    bool any = false;

    for (uint32_t other = 0; other < survey->hosts; other++) {
        if (is_pair(survey, host, other)) {
            any = true;
            if (passage != oc_survey_passage(pair_at(survey, side, host, other))) {
                return false;
            }
        }
    }
    return any;
}

/* Hosts of which something is true in one direction, with all others. */
typedef struct {
    bool *chosen[2];           /* by side */
} affected_t;

static uint32_t choose(const oc_survey_t *survey, affected_t *affected, oc_survey_passage_t passage)
{
    uint32_t senders = 0;

    for (uint32_t i = 0; i < survey->hosts; i++) {
        affected->chosen[SENDERS][i] = is_so_with_all(survey, SENDERS, i, passage);
        affected->chosen[RECEIVERS][i] = is_so_with_all(survey, RECEIVERS, i, passage);
        senders += affected->chosen[SENDERS][i];
    }
    return senders;
}

static uint32_t count_parts(const oc_survey_t *survey)
{
    uint32_t parts = 0;

    for (uint32_t i = 0; i < survey->hosts; i++) {
        parts += oc_survey_takes_part(survey, i);
    }
    return parts;
}

static void say_all(const oc_survey_t *survey, oc_survey_passage_t passage,
                    oc_survey_findings_t *findings)
{
    if (OC_SURVEY_NONE == passage) {
        add(findings, OC_SURVEY_FAULT, "nothing", "no multicast passes between any two hosts: "
            "switches without a querier, or filters of the network or of the hosts, drop it");
    } else {
        add(findings, OC_SURVEY_FAULT, "size", "small datagrams pass between all hosts, and none "
            "of %u bytes with the headers of IP: the switches have a smaller MTU than the hosts",
            survey->size + 28);
    }
}

static void say_sender(const oc_survey_t *survey, oc_survey_passage_t passage, const char *from,
                       const char *to, oc_survey_findings_t *findings)
{
    if (OC_SURVEY_NONE == passage) {
        add(findings, OC_SURVEY_FAULT, "nothing", "what is sent by %s does not reach %s", from, to);
    } else {
        add(findings, OC_SURVEY_FAULT, "size", "small datagrams from %s reach %s, and none of %u "
            "bytes with the headers of IP: something on the way has a smaller MTU", from, to,
            survey->size + 28);
    }
}

/* Pairs that are not said already, by sender. */
static void say_pairs(const oc_survey_t *survey, oc_survey_passage_t passage,
                      const affected_t *affected, bool *others, oc_survey_findings_t *findings)
{
    char names[TEXT];

    for (uint32_t sender = 0; sender < survey->hosts; sender++) {
        for (uint32_t other = 0; other < survey->hosts; other++) {
            others[other] = is_pair(survey, sender, other) && !affected->chosen[SENDERS][sender]
                            && !affected->chosen[RECEIVERS][other]
                            && passage == oc_survey_passage(oc_survey_pair(survey, sender, other));
        }
        if (oc_survey_names(survey, others, names, sizeof(names)) > 0) {
            say_sender(survey, passage, survey->host[sender].name, names, findings);
        }
    }
}

static void find_lost(const oc_survey_t *survey, oc_survey_passage_t passage, affected_t *affected,
                      bool *others, oc_survey_findings_t *findings)
{
    uint32_t parts = count_parts(survey);
    char names[TEXT];

    if (parts >= 2 && choose(survey, affected, passage) == parts) {
        say_all(survey, passage, findings);
        return;
    }
    if (parts == 2) { /* it is one pair, in one direction */
        memset(affected->chosen[SENDERS], 0, survey->hosts * sizeof(bool));
        memset(affected->chosen[RECEIVERS], 0, survey->hosts * sizeof(bool));
    }
    if (oc_survey_names(survey, affected->chosen[SENDERS], names, sizeof(names)) > 0) {
        say_sender(survey, passage, names, "any other host", findings);
    }
    if (oc_survey_names(survey, affected->chosen[RECEIVERS], names, sizeof(names)) > 0) {
        say_sender(survey, passage, "any other host", names, findings);
    }
    say_pairs(survey, passage, affected, others, findings);
}

/* ---- what is lost now and then ---- */

static uint32_t probes_lost(const oc_survey_pair_t *pair)
{
    return 2 * OC_SURVEY_PROBES - pair->small - pair->full;
}

static void find_losses(const oc_survey_t *survey, oc_survey_findings_t *findings)
{
    uint32_t pairs = 0, worst = 0, from = 0, to = 0;

    for (uint32_t s = 0; s < survey->hosts; s++) {
        for (uint32_t r = 0; r < survey->hosts; r++) {
            const oc_survey_pair_t *pair = oc_survey_pair(survey, s, r);

            if (is_pair(survey, s, r) && OC_SURVEY_SOME == oc_survey_passage(pair)) {
                pairs++;
                if (probes_lost(pair) > worst) {
                    worst = probes_lost(pair);
                    from = s;
                    to = r;
                }
            }
        }
    }
    if (pairs > 0) {
        add(findings, OC_SURVEY_FLAW, "loss", "datagrams that are sent one by one get lost between "
            "%u pair%s of hosts, most of them, %u of %u, from %s to %s", pairs,
            1 == pairs ? "" : "s", worst, 2 * OC_SURVEY_PROBES, survey->host[from].name,
            survey->host[to].name);
    }
}

static void find_burst_losses(const oc_survey_t *survey, oc_survey_findings_t *findings)
{
    uint32_t pairs = 0, from = 0, to = 0;
    double worst = 0;

    for (uint32_t s = 0; s < survey->hosts; s++) {
        for (uint32_t r = 0; r < survey->hosts; r++) {
            double loss = is_pair(survey, s, r) ? oc_survey_burst_loss(survey, s, r) : 0;
            bool told = OC_SURVEY_ALL != oc_survey_passage(oc_survey_pair(survey, s, r));

            pairs += loss > BURST_LOSS && !told;
            if (loss > worst && !told) {
                worst = loss;
                from = s;
                to = r;
            }
        }
    }
    if (pairs > 0) {
        add(findings, OC_SURVEY_FLAW, "burst", "bursts lose datagrams between %u pair%s of hosts, "
            "most of them, %.1f %%, from %s to %s: something there has less room than a burst of "
            "%u datagrams needs; lower coll_optcast_multicast_window", pairs,
            1 == pairs ? "" : "s", 100 * worst, survey->host[from].name, survey->host[to].name,
            survey->in_burst);
    }
}

static void find_doubled(const oc_survey_t *survey, oc_survey_findings_t *findings, bool *chosen)
{
    char names[TEXT];

    for (uint32_t r = 0; r < survey->hosts; r++) {
        chosen[r] = false;
        for (uint32_t s = 0; s < survey->hosts; s++) {
            chosen[r] = chosen[r] || oc_survey_pair(survey, s, r)->doubled > 0;
        }
    }
    if (oc_survey_names(survey, chosen, names, sizeof(names)) > 0) {
        add(findings, OC_SURVEY_FLAW, "doubled", "datagrams come twice to %s: there are two ways "
            "in the network", names);
    }
}

/* ---- the flood test ---- */

static uint32_t choose_verdict(const oc_survey_t *survey, uint32_t verdict, bool *chosen,
                               char names[TEXT])
{
    for (uint32_t i = 0; i < survey->hosts; i++) {
        chosen[i] = survey->host[i].watched && verdict == survey->host[i].verdict;
    }
    return oc_survey_names(survey, chosen, names, TEXT);
}

static void find_floods(const oc_survey_t *survey, oc_survey_findings_t *findings, bool *chosen)
{
    char names[TEXT];

    if (!survey->flood_tested) {
        return;
    }
    if (choose_verdict(survey, OC_FLOOD_FLOODED, chosen, names) > 0) {
        add(findings, OC_SURVEY_FLAW, "flood", "the network floods: it delivers multicast to hosts "
            "that have not joined, of which %s see%s it; the switches need IGMP snooping and a "
            "querier, and coll_optcast_multicast=auto uses no multicast here", names,
            NULL == strchr(names, ',') ? "s" : "");
    } else if (0 == choose_verdict(survey, OC_FLOOD_GUARDED, chosen, names)
               && OC_SURVEY_FAULT != findings->worst) { /* which would be the reason */
        add(findings, OC_SURVEY_FLAW, "blind", "no host can tell whether the network floods, and "
            "coll_optcast_multicast=auto uses no multicast then: the capability CAP_NET_RAW helps");
    }
}

static void find_all(const oc_survey_t *survey, oc_survey_findings_t *findings, bool *room)
{
    affected_t affected = {{room, room + survey->hosts}};
    bool *others = room + 2 * (size_t) survey->hosts;

    find_absent(survey, findings);
    find_lost(survey, OC_SURVEY_NONE, &affected, others, findings);
    find_lost(survey, OC_SURVEY_SMALL_ONLY, &affected, others, findings);
    find_losses(survey, findings);
    find_burst_losses(survey, findings);
    find_floods(survey, findings, others);
    find_sizes(survey, findings);
    find_doubled(survey, findings, others);
    find_buffers(survey, findings, others);
}

void oc_survey_find(const oc_survey_t *survey, oc_survey_findings_t *findings)
{
    bool *room = calloc(3 * (size_t) survey->hosts, sizeof(*room));

    memset(findings, 0, sizeof(*findings));
    if (NULL == room) {
        add(findings, OC_SURVEY_FAULT, "memory", "out of memory");
        return;
    }
    find_all(survey, findings, room);
    free(room);
}
