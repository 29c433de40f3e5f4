/* SPDX-License-Identifier: BSD-3-Clause */
/* What each host is, what was lost, how fast it was, who floods, and what all that means. */
#include "tools/survey/survey_report.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>

#include "multicast/flood/flood_judge.h"
#include "tools/info_tell.h"

#define IN_TABLE 12u           /* hosts that a table of all pairs has room for */
#define LISTED   16u           /* pairs that are listed, the worst first */

static const char *address_text(uint32_t address, char text[INET_ADDRSTRLEN])
{
    struct in_addr in = {.s_addr = address};

    return NULL != inet_ntop(AF_INET, &in, text, INET_ADDRSTRLEN) ? text : "?";
}

/* optcast:multicast:WHAT:HOST:KEY:VALUE, for programs. */
static void tell_of(const char *what, const char *host, const char *key, const char *value)
{
    char whole[3 * OC_SURVEY_NAME];

    snprintf(whole, sizeof(whole), "multicast:%s:%s:%s", what, host, key);
    oc_info_tell("", whole, "%s", value);
}

static void tell_number_of(const char *what, const char *host, const char *key, double value)
{
    char text[64];

    snprintf(text, sizeof(text), "%.*f", value < 100 ? 4 : 0, value);
    tell_of(what, host, key, text);
}

/* ---- hosts ---- */

static void tell_host(const oc_survey_host_t *host)
{
    const oc_survey_facts_t *facts = &host->facts;
    char text[INET_ADDRSTRLEN];

    tell_of("host", host->name, "joined", facts->joined ? "yes" : "no");
    if (!facts->joined) {
        tell_of("host", host->name, "reason", facts->reason);
    }
    tell_of("host", host->name, "interface", facts->interface);
    tell_of("host", host->name, "address", address_text(facts->address, text));
    tell_number_of("host", host->name, "mtu", facts->mtu);
    tell_number_of("host", host->name, "datagrams_kept", facts->staging);
    tell_number_of("host", host->name, "rmem_max", (double) facts->rmem_max);
    tell_number_of("host", host->name, "igmp_max_memberships", facts->memberships);
    tell_of("host", host->name, "cap_net_raw", facts->sees_packets ? "yes" : "no");
}

static void print_limit(uint64_t value)
{
    if (0 == value) {
        printf(" %11s", "?");
    } else {
        printf(" %11llu", (unsigned long long) value);
    }
}

static void print_host(const oc_survey_host_t *host)
{
    const oc_survey_facts_t *facts = &host->facts;
    char text[INET_ADDRSTRLEN];

    printf("  %-16s %-10s %-15s %5u %8u", host->name,
           '\0' == facts->interface[0] ? "-" : facts->interface,
           0 == facts->address ? "-" : address_text(facts->address, text), facts->mtu,
           facts->staging);
    print_limit(facts->rmem_max);
    print_limit(facts->memberships);
    printf("  %-11s %s\n", facts->sees_packets ? "yes" : "no", facts->joined ? "yes" : "no");
}

static void report_hosts(const oc_survey_t *survey)
{
    oc_info_title("Hosts (kept: datagrams that the kernel keeps for a socket)");
    if (!oc_info_is_parsable()) {
        printf("  %-16s %-10s %-15s %5s %8s %11s %11s  %-11s %s\n", "host", "interface", "address",
               "MTU", "kept", "rmem_max", "memberships", "CAP_NET_RAW", "joined");
    }
    for (uint32_t i = 0; i < survey->hosts; i++) {
        if (oc_info_is_parsable()) {
            tell_host(&survey->host[i]);
        } else {
            print_host(&survey->host[i]);
        }
    }
}

/* ---- what was lost ---- */

static bool report_has(const oc_survey_t *survey, uint32_t sender, uint32_t receiver)
{
    return sender != receiver && survey->host[sender].facts.joined
           && survey->host[receiver].facts.joined;
}

static void print_cell(const oc_survey_t *survey, uint32_t sender, uint32_t receiver)
{
    const oc_survey_pair_t *pair = oc_survey_pair(survey, sender, receiver);
    char text[16] = "-";

    if (report_has(survey, sender, receiver)) {
        snprintf(text, sizeof(text), "%u/%u", OC_SURVEY_PROBES - pair->small,
                 OC_SURVEY_PROBES - pair->full);
    }
    printf(" %8.8s", text);
}

static void print_table(const oc_survey_t *survey)
{
    printf("  %-16s", "from \\ to");
    for (uint32_t i = 0; i < survey->hosts; i++) {
        printf(" %8.8s", survey->host[i].name);
    }
    printf("\n");
    for (uint32_t s = 0; s < survey->hosts; s++) {
        printf("  %-16s", survey->host[s].name);
        for (uint32_t r = 0; r < survey->hosts; r++) {
            print_cell(survey, s, r);
        }
        printf("\n");
    }
}

/* A pair and what it has lost. */
typedef struct {
    uint32_t sender, receiver, lost;
} loss_t;

static int by_loss(const void *a, const void *b)
{
    const loss_t *x = a, *y = b;

    return (x->lost < y->lost) - (x->lost > y->lost);
}

static uint32_t collect_losses(const oc_survey_t *survey, loss_t *losses)
{
    uint32_t count = 0;

    for (uint32_t s = 0; s < survey->hosts; s++) {
        for (uint32_t r = 0; r < survey->hosts; r++) {
            const oc_survey_pair_t *pair = oc_survey_pair(survey, s, r);
            uint32_t lost = 2 * OC_SURVEY_PROBES - pair->small - pair->full;

            if (report_has(survey, s, r) && lost > 0) {
                losses[count++] = (loss_t) {s, r, lost};
            }
        }
    }
    qsort(losses, count, sizeof(*losses), by_loss);
    return count;
}

static void print_losses(const oc_survey_t *survey)
{
    loss_t *losses = calloc((size_t) survey->hosts * survey->hosts, sizeof(*losses));
    uint32_t count = NULL == losses ? 0 : collect_losses(survey, losses);

    for (uint32_t i = 0; i < count && i < LISTED; i++) {
        const oc_survey_pair_t *pair = oc_survey_pair(survey, losses[i].sender, losses[i].receiver);

        printf("  %-16s -> %-16s %u small ones, %u of full size\n",
               survey->host[losses[i].sender].name, survey->host[losses[i].receiver].name,
               OC_SURVEY_PROBES - pair->small, OC_SURVEY_PROBES - pair->full);
    }
    if (count > LISTED) {
        printf("  and less of %u more pairs\n", count - LISTED);
    } else if (0 == count) {
        printf("  none\n");
    }
    free(losses);
}

static void tell_losses(const oc_survey_t *survey)
{
    char names[2 * OC_SURVEY_NAME + 2];

    for (uint32_t s = 0; s < survey->hosts; s++) {
        for (uint32_t r = 0; r < survey->hosts; r++) {
            const oc_survey_pair_t *pair = oc_survey_pair(survey, s, r);

            if (report_has(survey, s, r)) {
                snprintf(names, sizeof(names), "%s:%s", survey->host[s].name,
                         survey->host[r].name);
                tell_number_of("pair", names, "lost_small", OC_SURVEY_PROBES - pair->small);
                tell_number_of("pair", names, "lost_full", OC_SURVEY_PROBES - pair->full);
                tell_number_of("pair", names, "lost_of_bursts",
                               oc_survey_burst_loss(survey, s, r));
                tell_number_of("pair", names, "rate_mbit", oc_survey_rate(pair));
            }
        }
    }
}

static void report_losses(const oc_survey_t *survey)
{
    char title[128];

    snprintf(title, sizeof(title), "Lost of %u small datagrams and %u of full size, sent one by "
             "one", OC_SURVEY_PROBES, OC_SURVEY_PROBES);
    oc_info_title(title);
    if (oc_info_is_parsable()) {
        tell_losses(survey);
    } else if (survey->hosts <= IN_TABLE) {
        print_table(survey);
    } else {
        print_losses(survey);
    }
}

/* ---- bursts ---- */

static void print_rate(const oc_survey_t *survey, uint32_t sender)
{
    double slowest = 0, worst = 0;
    uint32_t at = sender, worst_at = sender;

    for (uint32_t r = 0; r < survey->hosts; r++) {
        double rate = oc_survey_rate(oc_survey_pair(survey, sender, r));
        double loss = report_has(survey, sender, r) ? oc_survey_burst_loss(survey, sender, r) : 0;

        if (rate > 0 && (0 == slowest || rate < slowest)) {
            slowest = rate;
            at = r;
        }
        if (loss > worst) {
            worst = loss;
            worst_at = r;
        }
    }
    printf("  %-16s ", survey->host[sender].name);
    if (slowest > 0) {
        printf("%.0f Mbit/s at the slowest, %s; ", slowest, survey->host[at].name);
    } else {
        printf("came too fast, or too little of it, for a rate; ");
    }
    printf("lost at most %.2f %%", 100 * worst);
    printf(worst_at != sender ? ", by %s\n" : "\n", survey->host[worst_at].name);
}

/* For programs the pairs have it. */
static void report_bursts(const oc_survey_t *survey)
{
    char title[160];

    snprintf(title, sizeof(title), "Bursts of %u datagrams of full size, from each host in turn",
             survey->in_burst);
    oc_info_title(title);
    for (uint32_t i = 0; i < survey->hosts && !oc_info_is_parsable(); i++) {
        if (survey->host[i].burst > 0) {
            print_rate(survey, i);
        } else {
            printf("  %-16s none: what it sends in full size does not arrive\n",
                   survey->host[i].name);
        }
    }
}

/* ---- the flood test ---- */

static void print_verdict(const oc_survey_t *survey, uint32_t verdict, bool *chosen,
                          const char *text)
{
    char names[256];

    for (uint32_t i = 0; i < survey->hosts; i++) {
        chosen[i] = survey->host[i].watched && verdict == survey->host[i].verdict;
    }
    if (oc_survey_names(survey, chosen, names, sizeof(names)) > 0) {
        printf("  %s: %s\n", names, text);
    }
}

static void tell_verdicts(const oc_survey_t *survey)
{
    static const char *const words[OC_FLOOD_VERDICTS] = {
        [OC_FLOOD_UNKNOWN] = "unknown", [OC_FLOOD_BLIND] = "blind", [OC_FLOOD_GUARDED] = "no",
        [OC_FLOOD_FLOODED] = "yes"};

    for (uint32_t i = 0; i < survey->hosts; i++) {
        if (survey->host[i].watched) {
            tell_of("host", survey->host[i].name, "flooded", words[survey->host[i].verdict]);
        }
    }
}

static void report_floods(const oc_survey_t *survey)
{
    bool *chosen = calloc(survey->hosts, sizeof(*chosen));

    oc_info_title("Does what a host has not joined arrive there?");
    if (oc_info_is_parsable()) {
        tell_verdicts(survey);
    } else if (!survey->flood_tested) {
        printf("  not tested: the network is no Ethernet, or less than two hosts have joined\n");
    } else if (NULL != chosen) {
        print_verdict(survey, OC_FLOOD_FLOODED, chosen, "yes");
        print_verdict(survey, OC_FLOOD_GUARDED, chosen, "no");
        print_verdict(survey, OC_FLOOD_BLIND, chosen, "it cannot be told from there");
        print_verdict(survey, OC_FLOOD_UNKNOWN, chosen,
                      "it could not be told this time, since the host was busy");
    }
    free(chosen);
}

/* ---- what it means ---- */

static void report_findings(const oc_survey_findings_t *findings)
{
    static const char *const labels[] = {"remark", "flaw", "fault"};
    static const char *const verdicts[] = {
        "usable", "usable, but see the flaws above", "not usable between all hosts"};
    static const char *const words[] = {"yes", "flawed", "no"};
    char key[64];

    oc_info_title("What this means");
    for (uint32_t i = 0; i < findings->count; i++) {
        const oc_survey_finding_t *finding = &findings->list[i];

        snprintf(key, sizeof(key), "multicast:%s:%s", labels[finding->severity], finding->kind);
        oc_info_tell(labels[finding->severity], key, "%s", finding->text);
    }
    if (findings->left_out > 0) {
        oc_info_say("", "and %u more", findings->left_out);
    }
    oc_info_tell("multicast", "multicast:usable", "%s",
                 oc_info_is_parsable() ? words[findings->worst] : verdicts[findings->worst]);
}

void oc_survey_report(const oc_survey_t *survey, const oc_survey_plan_t *plan,
                      const oc_survey_findings_t *findings)
{
    char text[INET_ADDRSTRLEN];

    if (oc_info_is_parsable()) {
        oc_info_tell("", "multicast:hosts", "%u", survey->hosts);
        oc_info_tell("", "multicast:address", "%s", address_text(plan->address, text));
        oc_info_tell("", "multicast:port", "%u", plan->port);
        oc_info_tell("", "multicast:datagram", "%u", survey->size);
    } else {
        printf("Multicast by UDP between %u hosts: %s, port %u, datagrams of %u bytes\n",
               survey->hosts, address_text(plan->address, text), plan->port, survey->size);
    }
    report_hosts(survey);
    report_losses(survey);
    report_bursts(survey);
    report_floods(survey);
    report_findings(findings);
}
