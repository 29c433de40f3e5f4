/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What an administrator tells mode auto: constants of the network for the model
 * (client/plan/model.h), and rules that decide instead of it. A file of them is written by hand or
 * by optcast-tune, and read by one process of a job, which gives the rest what it has read: these
 * are plain numbers and texts, without pointers and padding.
 *
 *     version = 1
 *     [model]                   all are optional whole numbers
 *     link_rate = 100000        Mbit/s of a host's link, in each direction
 *     [allreduce NAME]          the first rule that fits decides; NAME is for messages. Also
 *                               [reduce NAME], [reduce_scatter NAME],
 *                               [reduce_scatter_block NAME] and [barrier NAME]
 *     hosts = 4                 N, N-M or N-; 2- if missing
 *     ranks_per_host = 1-2      the most that a host has; any if missing
 *     servers = 0               whole weights of external servers together; any if missing
 *     offload = 64K-1M, 4M-     bytes of a vector (of all blocks together), both ends included;
 *                               or always, or never, which are the only ones of a barrier
 */
#ifndef OC_BASE_RULES_H
#define OC_BASE_RULES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

#define OC_MAX_RULES         64
#define OC_MAX_SIZES         4
#define OC_RULE_NAME_SIZE    32  /* with the final zero, as the next one */
#define OC_RULES_SOURCE_SIZE 128
#define OC_MAX_RULES_FILE    (64u << 10)

/* What rules speak of, blocking, nonblocking or persistent. */
typedef enum {
    OC_RULED_ALLREDUCE,
    OC_RULED_REDUCE,
    OC_RULED_REDUCE_SCATTER,
    OC_RULED_REDUCE_SCATTER_BLOCK,
    OC_RULED_BARRIER,
    OC_NUM_RULED
} oc_ruled_t;

/* Both ends are included; last UINT64_MAX: there is none. */
typedef struct {
    uint64_t first, last;
} oc_range_t;

/* Ascending, apart from each other. */
typedef struct {
    uint64_t count;
    oc_range_t ranges[OC_MAX_SIZES];
} oc_sizes_t;

/* How a host is connected, as its devices say. */
typedef enum {
    OC_FABRIC_UNKNOWN,         /* nobody has looked: as rules say, or nominal */
    OC_FABRIC_TCP,
    OC_FABRIC_RDMA,
    OC_NUM_FABRICS
} oc_fabric_t;

typedef struct {
    uint32_t rate;             /* Mbit/s in each direction; 0: no device tells the truth */
    uint32_t fabric;           /* oc_fabric_t */
} oc_network_t;

typedef struct {
    uint64_t link_rate;        /* Mbit/s of a host's link in each direction; 0: not known */
    uint64_t link_latency;     /* ns of a message of MPI from one host to another */
    uint64_t offload_latency;  /* ns of a small offloaded Allreduce beside its messages */
    uint64_t message_cost;     /* ns that an aggregator needs for a message, in or out */
    uint64_t server_rate;      /* Mbit/s of contributions that a server reduces */
    uint64_t memory_rate;      /* Mbit/s that a rank copies in its host */
} oc_constants_t;

typedef struct {
    char name[OC_RULE_NAME_SIZE];
    uint64_t ruled;                    /* oc_ruled_t */
    oc_range_t hosts, ranks_per_host, servers;
    oc_sizes_t offload;
} oc_rule_t;

typedef struct {
    char source[OC_RULES_SOURCE_SIZE]; /* for messages: the end of the file's path; "": built in */
    oc_constants_t constants;          /* nominal ones where the file says nothing */
    uint64_t given;                    /* bits of those that the file says, in their order */
    uint64_t previous[OC_NUM_RULED];   /* what Open MPI would run: client/plan/previous.h */
    uint64_t count;
    oc_rule_t rules[OC_MAX_RULES];
} oc_rules_t;

/* Nominal constants, for hosts with RDMA over links of 100 Gbit/s, and no rule. */
void oc_rules_default(oc_rules_t *rules);

/*
 * What a file says, and for the rest what suits such a link: over TCP messages take longer, and
 * more of a processor. link_rate is 0 if neither tells.
 */
void oc_rules_constants(const oc_rules_t *rules, const oc_network_t *network,
                        oc_constants_t *constants);

/*
 * What text says, and the defaults for what it does not. On OC_ERR_INVALID error names source,
 * line, the value and what is needed, and rules are the defaults. text needs no final zero.
 */
oc_status_t oc_rules_parse(const char *source, const char *text, size_t length, oc_rules_t *rules,
                           char *error, size_t error_size);

/* As oc_rules_parse, of a file; OC_ERR_UNREACHABLE, with a sentence in error: there is none. */
oc_status_t oc_rules_read(const char *path, oc_rules_t *rules, char *error, size_t error_size);

/* "reduce_scatter": in files of rules */
const char *oc_ruled_name(oc_ruled_t ruled);

static inline bool oc_range_contains(const oc_range_t *range, uint64_t number)
{
    return number >= range->first && number <= range->last;
}

/* Here, because every operation asks for it. */
static inline bool oc_sizes_contain(const oc_sizes_t *sizes, uint64_t bytes)
{
    for (uint64_t i = 0; i < sizes->count; i++) {
        if (oc_range_contains(&sizes->ranges[i], bytes)) {
            return true;
        }
    }
    return false;
}

/* "64 KiB to 1 MiB, 4 MiB and more", "everything" or "nothing" */
void oc_sizes_print(const oc_sizes_t *sizes, char *buffer, size_t buffer_size);

#endif
