/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The data model of optcast-info --multicast: hosts that meet, what each of them says of itself,
 * and what each has got of what the others sent.
 */
#ifndef OC_TOOLS_SURVEY_SURVEY_TYPES_H
#define OC_TOOLS_SURVEY_SURVEY_TYPES_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/limits.h"

#define OC_SURVEY_HOSTS   1024u /* most that take part */
#define OC_SURVEY_PORT    8920
#define OC_SURVEY_NAME    64    /* bytes of a host's name, with its final zero */
#define OC_SURVEY_TOKEN   64    /* the same of the word that lets a host take part */
#define OC_SURVEY_REASON  256   /* the same of a sentence */

/* Datagrams of each size that a host sends one by one, before it sends bursts. */
#define OC_SURVEY_PROBES  32u
#define OC_SURVEY_SMALL   64u   /* bytes that small ones carry */
#define OC_SURVEY_BURSTS  8u    /* most bursts of a host */
#define OC_SURVEY_MOST    16384u/* datagrams in a burst */

/* What a process says when it comes. */
typedef struct {
    char token[OC_SURVEY_TOKEN];
    char name[OC_SURVEY_NAME];
    uint64_t identity;         /* of its host: two processes of one say the same */
} oc_survey_hello_t;

/* What all are told that take part. */
typedef struct {
    uint32_t host, hosts;      /* number of the one that is told, and how many there are */
    uint32_t address;          /* that is joined, as in_addr_t … */
    uint32_t probes, marks;    /* … and those of the flood test */
    uint16_t port;
    uint32_t rate;             /* Mbit/s; 0: no limit */
    uint64_t staging;          /* bytes to ask the kernel for */
    uint64_t token;
    uint8_t key[OC_JOB_KEY_SIZE];
} oc_survey_plan_t;

/* What a host says of itself when it has joined, or could not. */
typedef struct {
    bool joined;
    char reason[OC_SURVEY_REASON];   /* why it has not; else "" */
    char interface[OC_SURVEY_NAME];
    uint32_t address;          /* as in_addr_t */
    uint32_t mtu;
    uint32_t datagram_size;    /* with the header of Optcast */
    uint32_t staging;          /* datagrams that the kernel keeps */
    uint64_t rmem_max;         /* bytes; 0: the system does not say */
    uint32_t memberships;      /* most of a socket; 0: the system does not say */
    bool sees_packets;         /* it has CAP_NET_RAW */
    bool may_flood;            /* the interface is of a kind that may: Ethernet */
} oc_survey_facts_t;

/* What one host sends and the others count. */
typedef struct {
    uint32_t number;           /* rising, from 1 */
    uint32_t sender;
    uint32_t small, full;      /* datagrams of each size, at most OC_SURVEY_MOST */
    uint32_t length;           /* bytes that full ones carry */
    uint32_t patience;         /* ms that receivers wait for what is missing */
} oc_survey_step_t;

/* What has come of a step; of what was sent, small and full only. */
typedef struct {
    uint32_t small, full;      /* without doubled ones */
    uint32_t doubled;
    uint32_t spanned;          /* full ones that came after the first that were read … */
    uint64_t span;             /* … in so many ns; 0: it cannot be said */
} oc_survey_counts_t;

/* What a host has got from another one. */
typedef struct {
    uint32_t small, full;      /* of OC_SURVEY_PROBES each */
    uint32_t burst;            /* of all bursts */
    uint32_t doubled;
    uint32_t rates;            /* bursts that had one */
    float rate[OC_SURVEY_BURSTS]; /* Mbit/s of datagrams with all headers */
} oc_survey_pair_t;

typedef struct {
    char name[OC_SURVEY_NAME];
    oc_survey_facts_t facts;
    uint32_t burst;            /* datagrams that it has sent in bursts */
    uint32_t verdict;          /* oc_flood_verdict_t */
    bool watched;              /* it was to say whether the network floods */
} oc_survey_host_t;

/* All that was found out. */
typedef struct {
    uint32_t hosts;
    oc_survey_host_t *host;
    oc_survey_pair_t *pairs;   /* by sender, then receiver: see oc_survey_pair */
    uint32_t size;             /* bytes of full datagrams, with the header of Optcast */
    uint32_t window;           /* bytes that a burst was to have … */
    uint32_t in_burst;         /* … and datagrams that it had */
    bool flood_tested;
} oc_survey_t;

static inline oc_survey_pair_t *oc_survey_pair(const oc_survey_t *survey, uint32_t sender,
                                               uint32_t receiver)
{
    return &survey->pairs[(size_t) sender * survey->hosts + receiver];
}

/* Who has not joined neither sends nor listens. */
static inline bool oc_survey_takes_part(const oc_survey_t *survey, uint32_t host)
{
    return survey->host[host].facts.joined;
}

#endif
