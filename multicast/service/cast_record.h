/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a rank tells all others when a multicast group is set up: whether it can take part, by which
 * transports, and who it is. Codec and comparison; pure functions, any thread. doc/multicast.md has
 * the layout.
 */
#ifndef OC_MULTICAST_SERVICE_CAST_RECORD_H
#define OC_MULTICAST_SERVICE_CAST_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/settings.h"
#include "base/status.h"
#include "multicast/flood/flood_judge.h"
#include "multicast/service/multicast.h"
#include "multicast/transport/transport.h"

typedef enum {
    OC_CARRIER_VERBS,
    OC_CARRIER_UDP,
    OC_CARRIERS
} oc_carrier_t;

/* "verbs", "udp" */
const char *oc_carrier_name(oc_carrier_t carrier);

typedef struct {
    uint32_t datagram_size;         /* bytes with header; 0: this rank cannot use it */
    oc_origin_t origin;             /* of what this rank sends by it */
    uint32_t staging;               /* datagrams that it keeps until it looks at them, not 0 */
    bool floods;                    /* a network may deliver it to hosts that have not joined … */
    oc_flood_verdict_t flood;       /* … and this is what is known of this host's */
} oc_carrier_record_t;

typedef struct {
    bool ready;                     /* this rank can take part; all below counts only then */
    uint64_t settings;              /* digest of what must be equal on all ranks */
    uint64_t token;                 /* random, not 0; rank 0's is the group's */
    uint64_t job;                   /* digest of its identity */
    uint64_t host;                  /* equal for ranks on one host */
    uint64_t contact;               /* digest of the address of its UCX worker, not 0 */
    uint32_t process;               /* rank in the job */
    oc_offer_t offer;               /* to the ranks of its host */
    oc_carrier_record_t carriers[OC_CARRIERS];
} oc_cast_record_t;

void oc_cast_record_encode(const oc_cast_record_t *record,
                           uint8_t bytes[OC_MULTICAST_RECORD_SIZE]);

/* false: it is of another version, or makes no sense. */
bool oc_cast_record_decode(const uint8_t bytes[OC_MULTICAST_RECORD_SIZE],
                           oc_cast_record_t *record);

/*
 * Judges the records of all ranks; all of them come to the same terms, which is all of them but the flood test.
 * OC_DECLINED: to no terms, for a reason that names a rank, which blamed is set to. If that rank cannot use the
 * carrier, this is the one in terms; otherwise it is OC_CARRIERS.
 */
oc_status_t oc_cast_records_judge(const uint8_t *records, uint32_t num_ranks,
                                  oc_multicast_choice_t choice, oc_multicast_terms_t *terms,
                                  uint32_t *blamed, char *reason, size_t reason_size);

#endif
