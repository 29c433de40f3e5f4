/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a rank tells the others when a multicast group is set up: whether it can take part, by which
 * transports, and how it is reached. Codec and comparison; pure functions, any thread.
 */
#ifndef OC_MULTICAST_RECORD_H
#define OC_MULTICAST_RECORD_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/settings.h"
#include "base/status.h"
#include "multicast/multicast.h"
#include "multicast/transport.h"
#include "protocol/limits.h"

typedef enum {
    OC_CARRIER_VERBS,
    OC_CARRIER_UDP,
    OC_CARRIERS
} oc_carrier_t;

/* "verbs", "udp" */
const char *oc_carrier_name(oc_carrier_t carrier);

#define OC_CAST_TEXT_SIZE    192    /* with the final zero; longer ones are cut */
#define OC_CAST_ADDRESS_SIZE 1152   /* longest UCX worker address */
#define OC_CAST_ORIGINS      12     /* addresses of a host */

typedef struct {
    uint32_t datagram_size;         /* bytes with header; 0: this rank cannot use it */
    char text[OC_CAST_TEXT_SIZE];   /* which interface it is, or why it cannot be used */
    oc_origin_t origin;             /* of what this rank sends by it */
} oc_carrier_record_t;

typedef struct {
    bool ready;                     /* this rank can take part; all below counts only then … */
    char reason[OC_CAST_TEXT_SIZE]; /* … and this only if it cannot */
    uint64_t settings;              /* digest of what must be equal on all ranks */
    uint64_t token;                 /* random, not 0; rank 0's is the group's */
    uint8_t job_id[OC_JOB_ID_SIZE];
    uint32_t process;               /* rank in the job */
    uint64_t host;                  /* equal for ranks on one host */
    oc_carrier_record_t carriers[OC_CARRIERS];
    uint16_t address_length;        /* UCX worker address */
    uint8_t address[OC_CAST_ADDRESS_SIZE];
    uint8_t num_origins;            /* addresses from which its UCX may connect */
    struct in6_addr origins[OC_CAST_ORIGINS];
} oc_cast_record_t;

void oc_cast_record_encode(const oc_cast_record_t *record,
                           uint8_t bytes[OC_MULTICAST_RECORD_SIZE]);

/* false: it is of another version, or makes no sense. */
bool oc_cast_record_decode(const uint8_t bytes[OC_MULTICAST_RECORD_SIZE],
                           oc_cast_record_t *record);

/* A record that says no more than that this rank cannot take part, and why. */
void oc_cast_record_refuse(const char *reason, uint8_t bytes[OC_MULTICAST_RECORD_SIZE]);

/* What all ranks agree on, by their records. */
typedef struct {
    uint64_t token;
    oc_carrier_t carrier;
    uint32_t datagram_size;         /* the smallest of all ranks' */
} oc_cast_terms_t;

/*
 * Judges the records of all ranks; all of them come to the same terms. OC_DECLINED: to no terms,
 * for a reason that names a rank, which blamed is set to.
 */
oc_status_t oc_cast_records_judge(const uint8_t *records, uint32_t num_ranks,
                                  oc_multicast_choice_t choice, oc_cast_terms_t *terms,
                                  uint32_t *blamed, char *reason, size_t reason_size);

#endif
