/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Layout: 0 "OMCR", 4 version (2), 6 ready (1), 8 reason, then settings (8), token (8), job (16),
 * process (4), host (8), for each carrier size (4), text, and the address (16) and port (2) that
 * its datagrams come from, then length (2) and bytes of the worker address, number of the host's
 * addresses (1) and these (16 each). Texts are OC_CAST_TEXT_SIZE bytes with at least one zero; what
 * is left is zero.
 */
#include "multicast/record.h"

#include <stdio.h>
#include <string.h>

#include "protocol/wire.h"

#define MAGIC   0x52434d4fu
#define VERSION 3

#define ORIGIN_BYTES sizeof(((oc_origin_t *) 0)->address)

const char *oc_carrier_name(oc_carrier_t carrier)
{
    return OC_CARRIER_VERBS == carrier ? "verbs" : "udp";
}

static void put_text(oc_writer_t *w, const char *text)
{
    size_t length = strnlen(text, OC_CAST_TEXT_SIZE - 1);

    oc_put_bytes(w, text, length);
    for (size_t i = length; i < OC_CAST_TEXT_SIZE; i++) {
        oc_put(w, 0, 1);
    }
}

/* What people will read must not do anything to their terminals. */
static void get_text(oc_reader_t *r, char text[OC_CAST_TEXT_SIZE])
{
    const uint8_t *bytes = oc_get_bytes(r, OC_CAST_TEXT_SIZE);
    size_t length = 0;

    memset(text, 0, OC_CAST_TEXT_SIZE);
    if (NULL == bytes) {
        return;
    }
    for (; length < OC_CAST_TEXT_SIZE - 1 && 0 != bytes[length]; length++) {
        text[length] = bytes[length] < ' ' || 0x7f == bytes[length] ? '?' : (char) bytes[length];
    }
}

void oc_cast_record_encode(const oc_cast_record_t *record,
                           uint8_t bytes[OC_MULTICAST_RECORD_SIZE])
{
    oc_writer_t w = {.at = bytes, .end = bytes + OC_MULTICAST_RECORD_SIZE};

    memset(bytes, 0, OC_MULTICAST_RECORD_SIZE);
    oc_put(&w, MAGIC, 4);
    oc_put(&w, VERSION, 2);
    oc_put(&w, record->ready, 2);
    put_text(&w, record->reason);
    oc_put(&w, record->settings, 8);
    oc_put(&w, record->token, 8);
    oc_put_bytes(&w, record->job_id, OC_JOB_ID_SIZE);
    oc_put(&w, record->process, 4);
    oc_put(&w, record->host, 8);
    for (unsigned i = 0; i < OC_CARRIERS; i++) {
        oc_put(&w, record->carriers[i].datagram_size, 4);
        put_text(&w, record->carriers[i].text);
        oc_put_bytes(&w, record->carriers[i].origin.address, ORIGIN_BYTES);
        oc_put(&w, record->carriers[i].origin.port, 2);
    }
    oc_put(&w, record->address_length, 2);
    oc_put_bytes(&w, record->address, record->address_length);
    oc_put(&w, record->num_origins, 1);
    oc_put_bytes(&w, record->origins, record->num_origins * sizeof(record->origins[0]));
}

_Static_assert(8 + OC_CAST_TEXT_SIZE + 8 + 8 + OC_JOB_ID_SIZE + 4 + 8
                   + OC_CARRIERS * (4 + OC_CAST_TEXT_SIZE + ORIGIN_BYTES + 2) + 2
                   + OC_CAST_ADDRESS_SIZE + 1 + OC_CAST_ORIGINS * sizeof(struct in6_addr)
               <= OC_MULTICAST_RECORD_SIZE, "a record has room for all of its fields");

/* What comes from nobody knows where has an address of zeros: that cannot be anybody's. */
static bool carrier_is_valid(const oc_carrier_record_t *carrier)
{
    static const oc_origin_t unknown;

    return 0 == carrier->datagram_size
           || (carrier->datagram_size >= OC_DATAGRAM_MIN
               && carrier->datagram_size <= OC_DATAGRAM_MAX
               && 0 != memcmp(carrier->origin.address, unknown.address, ORIGIN_BYTES));
}

static void get_origin(oc_reader_t *r, oc_origin_t *origin)
{
    const uint8_t *address = oc_get_bytes(r, ORIGIN_BYTES);

    memset(origin, 0, sizeof(*origin));
    if (NULL != address) {
        memcpy(origin->address, address, ORIGIN_BYTES);
    }
    origin->port = (uint32_t) oc_get(r, 2);
}

static void get_carriers(oc_reader_t *r, oc_cast_record_t *record)
{
    for (unsigned i = 0; i < OC_CARRIERS; i++) {
        record->carriers[i].datagram_size = (uint32_t) oc_get(r, 4);
        get_text(r, record->carriers[i].text);
        get_origin(r, &record->carriers[i].origin);
        r->bad = r->bad || !carrier_is_valid(&record->carriers[i]);
    }
}

static void get_address(oc_reader_t *r, oc_cast_record_t *record)
{
    const uint8_t *address;

    record->address_length = (uint16_t) oc_get(r, 2);
    if (record->address_length > OC_CAST_ADDRESS_SIZE) {
        r->bad = true;
    }
    address = oc_get_bytes(r, record->address_length);
    if (NULL != address) {
        memcpy(record->address, address, record->address_length);
    }
}

static void get_origins(oc_reader_t *r, oc_cast_record_t *record)
{
    const uint8_t *origins;

    record->num_origins = (uint8_t) oc_get(r, 1);
    if (record->num_origins > OC_CAST_ORIGINS) {
        r->bad = true;
        return;
    }
    origins = oc_get_bytes(r, record->num_origins * sizeof(record->origins[0]));
    if (NULL != origins) {
        memcpy(record->origins, origins, record->num_origins * sizeof(record->origins[0]));
    }
}

bool oc_cast_record_decode(const uint8_t bytes[OC_MULTICAST_RECORD_SIZE],
                           oc_cast_record_t *record)
{
    oc_reader_t r = {.at = bytes, .end = bytes + OC_MULTICAST_RECORD_SIZE};
    uint64_t magic = oc_get(&r, 4), version = oc_get(&r, 2), ready = oc_get(&r, 2);
    const uint8_t *job_id;

    if (MAGIC != magic || VERSION != version || ready > 1) {
        return false;
    }
    record->ready = 1 == ready;
    get_text(&r, record->reason);
    record->settings = oc_get(&r, 8);
    record->token = oc_get(&r, 8);
    job_id = oc_get_bytes(&r, OC_JOB_ID_SIZE);
    memcpy(record->job_id, job_id, OC_JOB_ID_SIZE);
    record->process = (uint32_t) oc_get(&r, 4);
    record->host = oc_get(&r, 8);
    get_carriers(&r, record);
    get_address(&r, record);
    get_origins(&r, record);
    return !r.bad && (!record->ready || (0 != record->token && 0 != record->address_length));
}

void oc_cast_record_refuse(const char *reason, uint8_t bytes[OC_MULTICAST_RECORD_SIZE])
{
    oc_cast_record_t record = {.ready = false};

    snprintf(record.reason, sizeof(record.reason), "%s", reason);
    oc_cast_record_encode(&record, bytes);
}

/* For each carrier the smallest size of all ranks so far, and the first rank that cannot use it. */
typedef struct {
    uint32_t smallest[OC_CARRIERS];
    uint32_t without[OC_CARRIERS];
    char why[OC_CARRIERS][OC_CAST_TEXT_SIZE];
} survey_t;

static void look_at(survey_t *survey, const oc_cast_record_t *record, uint32_t rank)
{
    for (unsigned i = 0; i < OC_CARRIERS; i++) {
        uint32_t size = record->carriers[i].datagram_size;

        if (0 == size && 0 != survey->smallest[i]) {
            survey->without[i] = rank;
            snprintf(survey->why[i], OC_CAST_TEXT_SIZE, "%s", record->carriers[i].text);
        }
        survey->smallest[i] = size < survey->smallest[i] ? size : survey->smallest[i];
    }
}

/* "" if this rank's record fits that of rank 0. */
static void compare(const oc_cast_record_t *record, const oc_cast_record_t *first, uint32_t rank,
                    char *reason, size_t size)
{
    reason[0] = '\0';
    if (!record->ready) {
        snprintf(reason, size, "rank %u cannot take part: %s", rank, record->reason);
    } else if (record->settings != first->settings) {
        snprintf(reason, size, "rank %u has other coll_optcast settings than rank 0", rank);
    } else if (0 != memcmp(record->job_id, first->job_id, OC_JOB_ID_SIZE)) {
        snprintf(reason, size, "rank %u belongs to another MPI job than rank 0", rank);
    }
}

static oc_status_t choose(const survey_t *survey, oc_multicast_choice_t choice,
                          oc_cast_terms_t *terms, uint32_t *blamed, char *reason, size_t size)
{
    /* of both, people learn about the one that more hosts have */
    oc_carrier_t only = OC_MULTICAST_VERBS == choice ? OC_CARRIER_VERBS : OC_CARRIER_UDP;

    if (OC_MULTICAST_AUTO == choice && 0 != survey->smallest[OC_CARRIER_VERBS]) {
        only = OC_CARRIER_VERBS;
    }
    if (0 == survey->smallest[only]) {
        *blamed = survey->without[only];
        snprintf(reason, size, "rank %u cannot multicast by %s: %s", *blamed,
                 oc_carrier_name(only), survey->why[only]);
        return OC_DECLINED;
    }
    terms->carrier = only;
    terms->datagram_size = survey->smallest[only];
    return OC_OK;
}

oc_status_t oc_cast_records_judge(const uint8_t *records, uint32_t num_ranks,
                                  oc_multicast_choice_t choice, oc_cast_terms_t *terms,
                                  uint32_t *blamed, char *reason, size_t reason_size)
{
    survey_t found = {.smallest = {UINT32_MAX, UINT32_MAX}};
    oc_cast_record_t first, record;

    memset(&first, 0, sizeof(first));
    for (uint32_t rank = 0; rank < num_ranks; rank++) {
        *blamed = rank;
        if (!oc_cast_record_decode(records + (size_t) rank * OC_MULTICAST_RECORD_SIZE, &record)) {
            snprintf(reason, reason_size, "rank %u has another version of optcast", rank);
            return OC_DECLINED;
        }
        if (0 == rank) {
            first = record;
        }
        compare(&record, &first, rank, reason, reason_size);
        if ('\0' != reason[0]) {
            return OC_DECLINED;
        }
        look_at(&found, &record, rank);
    }
    terms->token = first.token;
    return choose(&found, choice, terms, blamed, reason, reason_size);
}
