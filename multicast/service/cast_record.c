/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Layout: 0 "OMCR", 4 version (2), 6 ready and shares (1), 7 floods (1), then settings, token, job, host and
 * contact (8 each), process (4), and for each carrier size (2), the address (16) and port (4) that its
 * datagrams come from, and how many datagrams are kept (4), then the offer to the ranks of the host.
 */
#include "multicast/service/cast_record.h"

#include <stdio.h>
#include <string.h>

#include "base/wire.h"

#define MAGIC   0x52434d4fu
#define VERSION 11

#define ORIGIN_BYTES sizeof(((oc_origin_t *) 0)->address)

_Static_assert(4 == OC_FLOOD_VERDICTS && 2 == OC_CARRIERS, "a record has room for verdicts");
_Static_assert(8 + 5 * 8 + 4 + OC_CARRIERS * (2 + ORIGIN_BYTES + 4 + 4) + OC_OFFER_SIZE
                   <= OC_MULTICAST_RECORD_SIZE,
               "a record has room for all of its fields");
_Static_assert(OC_DATAGRAM_MAX <= UINT16_MAX, "a record has room for sizes");

const char *oc_carrier_name(oc_carrier_t carrier)
{
    return OC_CARRIER_VERBS == carrier ? "verbs" : "udp";
}

/* Ready and shares are in one byte. */
#define READY        1u
#define SHARES_SHIFT 1

/* Of each carrier three bits, the lowest of the first: whether it floods, and what is known. */
#define FLOOD_BITS 3

static uint64_t flood_bits(const oc_cast_record_t *record)
{
    uint64_t bits = 0;

    for (unsigned i = 0; i < OC_CARRIERS; i++) {
        bits |= (uint64_t) (record->carriers[i].flood << 1 | record->carriers[i].floods)
                << (FLOOD_BITS * i);
    }
    return bits;
}

static void set_flood_bits(oc_cast_record_t *record, uint64_t bits)
{
    for (unsigned i = 0; i < OC_CARRIERS; i++) {
        record->carriers[i].floods = 0 != (bits >> (FLOOD_BITS * i) & 1);
        record->carriers[i].flood = (oc_flood_verdict_t) (bits >> (FLOOD_BITS * i + 1) & 3);
    }
}

void oc_cast_record_encode(const oc_cast_record_t *record,
                           uint8_t bytes[OC_MULTICAST_RECORD_SIZE])
{
    oc_writer_t w = {.at = bytes, .end = bytes + OC_MULTICAST_RECORD_SIZE};

    memset(bytes, 0, OC_MULTICAST_RECORD_SIZE);
    oc_put(&w, MAGIC, 4);
    oc_put(&w, VERSION, 2);
    oc_put(&w, (uint64_t) record->offer.shares << SHARES_SHIFT | (record->ready ? READY : 0), 1);
    oc_put(&w, flood_bits(record), 1);
    oc_put(&w, record->settings, 8);
    oc_put(&w, record->token, 8);
    oc_put(&w, record->job, 8);
    oc_put(&w, record->host, 8);
    oc_put(&w, record->contact, 8);
    oc_put(&w, record->process, 4);
    for (unsigned i = 0; i < OC_CARRIERS; i++) {
        oc_put(&w, record->carriers[i].datagram_size, 2);
        oc_put_bytes(&w, record->carriers[i].origin.address, ORIGIN_BYTES);
        oc_put(&w, record->carriers[i].origin.port, 4);
        oc_put(&w, record->carriers[i].staging, 4);
    }
    oc_offer_put(&w, &record->offer);
}

/* The largest ports. */
static const uint32_t last_port[OC_CARRIERS] = {
    [OC_CARRIER_VERBS] = 0xffffff, [OC_CARRIER_UDP] = 0xffff};

/* What comes from nobody knows where has an address of zeros: that cannot be anybody's. */
static bool carrier_is_valid(const oc_carrier_record_t *carrier, uint32_t most)
{
    static const oc_origin_t unknown;

    return 0 == carrier->datagram_size
           || (carrier->datagram_size >= OC_DATAGRAM_MIN
               && carrier->datagram_size <= OC_DATAGRAM_MAX
               && carrier->origin.port > 0 && carrier->origin.port <= most && carrier->staging > 0
               && 0 != memcmp(carrier->origin.address, unknown.address, ORIGIN_BYTES));
}

static void get_carrier(oc_reader_t *r, uint32_t most, oc_carrier_record_t *carrier)
{
    const uint8_t *address;

    memset(carrier, 0, sizeof(*carrier));
    carrier->datagram_size = (uint32_t) oc_get(r, 2);
    address = oc_get_bytes(r, ORIGIN_BYTES);
    if (NULL != address) {
        memcpy(carrier->origin.address, address, ORIGIN_BYTES);
    }
    carrier->origin.port = (uint32_t) oc_get(r, 4);
    carrier->staging = (uint32_t) oc_get(r, 4);
    r->bad = r->bad || !carrier_is_valid(carrier, most);
}

bool oc_cast_record_decode(const uint8_t bytes[OC_MULTICAST_RECORD_SIZE],
                           oc_cast_record_t *record)
{
    oc_reader_t r = {.at = bytes, .end = bytes + OC_MULTICAST_RECORD_SIZE};
    uint64_t magic = oc_get(&r, 4), version = oc_get(&r, 2), state = oc_get(&r, 1);
    uint64_t flood = oc_get(&r, 1);
    bool offers;

    if (MAGIC != magic || VERSION != version || flood >> (FLOOD_BITS * OC_CARRIERS)) {
        return false;
    }
    record->ready = 0 != (state & READY);
    record->offer.shares = (oc_shares_t) (state >> SHARES_SHIFT);
    record->settings = oc_get(&r, 8);
    record->token = oc_get(&r, 8);
    record->job = oc_get(&r, 8);
    record->host = oc_get(&r, 8);
    record->contact = oc_get(&r, 8);
    record->process = (uint32_t) oc_get(&r, 4);
    for (unsigned i = 0; i < OC_CARRIERS; i++) {
        get_carrier(&r, last_port[i], &record->carriers[i]);
    }
    offers = oc_offer_get(&r, &record->offer);
    set_flood_bits(record, flood);
    return offers && !r.bad && (!record->ready || (0 != record->token && 0 != record->contact));
}

/* For each carrier the least of all ranks so far, and the first rank that cannot use it. */
typedef struct {
    uint32_t smallest[OC_CARRIERS]; /* datagram */
    uint32_t staging[OC_CARRIERS];
    uint32_t without[OC_CARRIERS];
} survey_t;

static void cast_record_look_at(survey_t *survey, const oc_cast_record_t *record, uint32_t rank)
{
    for (unsigned i = 0; i < OC_CARRIERS; i++) {
        uint32_t size = record->carriers[i].datagram_size;
        uint32_t staging = record->carriers[i].staging;

        if (0 == size && 0 != survey->smallest[i]) {
            survey->without[i] = rank;
        }
        survey->smallest[i] = size < survey->smallest[i] ? size : survey->smallest[i];
        survey->staging[i] = staging < survey->staging[i] ? staging : survey->staging[i];
    }
}

/* "" if this rank's record fits that of rank 0. */
static void cast_record_compare(const oc_cast_record_t *record, const oc_cast_record_t *first,
                                uint32_t rank, char *reason, size_t size)
{
    reason[0] = '\0';
    if (!record->ready) {
        snprintf(reason, size, "rank %u cannot take part", rank);
    } else if (record->settings != first->settings) {
        snprintf(reason, size, "rank %u has other coll_optcast settings than rank 0", rank);
    } else if (record->job != first->job) {
        snprintf(reason, size, "rank %u belongs to another MPI job than rank 0", rank);
    }
}

static oc_status_t cast_record_choose(const survey_t *survey, oc_multicast_choice_t choice,
                                      oc_multicast_terms_t *terms, uint32_t *blamed, char *reason,
                                      size_t size)
{
    /* of both, people learn about the one that more hosts have */
    oc_carrier_t only = OC_MULTICAST_VERBS == choice ? OC_CARRIER_VERBS : OC_CARRIER_UDP;

    if (OC_MULTICAST_AUTO == choice && 0 != survey->smallest[OC_CARRIER_VERBS]) {
        only = OC_CARRIER_VERBS;
    }
    terms->carrier = only;
    if (0 == survey->smallest[only]) {
        *blamed = survey->without[only];
        snprintf(reason, size, "rank %u cannot multicast by %s", *blamed, oc_carrier_name(only));
        return OC_DECLINED;
    }
    terms->datagram_size = survey->smallest[only];
    terms->staging = survey->staging[only];
    return OC_OK;
}

oc_status_t oc_cast_records_judge(const uint8_t *records, uint32_t num_ranks,
                                  oc_multicast_choice_t choice, oc_multicast_terms_t *terms,
                                  uint32_t *blamed, char *reason, size_t reason_size)
{
    survey_t found = {.smallest = {UINT32_MAX, UINT32_MAX}, .staging = {UINT32_MAX, UINT32_MAX}};
    oc_cast_record_t first, record;

    memset(&first, 0, sizeof(first));
    terms->carrier = OC_CARRIERS;
    for (uint32_t rank = 0; rank < num_ranks; rank++) {
        *blamed = rank;
        if (!oc_cast_record_decode(records + (size_t) rank * OC_MULTICAST_RECORD_SIZE, &record)) {
            snprintf(reason, reason_size, "rank %u has another version of optcast", rank);
            return OC_DECLINED;
        }
        if (0 == rank) {
            first = record;
        }
        cast_record_compare(&record, &first, rank, reason, reason_size);
        if ('\0' != reason[0]) {
            return OC_DECLINED;
        }
        cast_record_look_at(&found, &record, rank);
    }
    terms->token = first.token;
    return cast_record_choose(&found, choice, terms, blamed, reason, reason_size);
}
