/* SPDX-License-Identifier: BSD-3-Clause */
/* The bytes of records, and what goes into their digest. */
#include "client/state/record.h"

#include <string.h>

#include "base/text.h"
#include "base/wire.h"
#include "client/state/setup_state.h"

#define MAGIC 0x524fu /* "OR" */

/* Ready, shares and reserve are in one byte. */
#define READY        1u
#define SHARES_SHIFT 1
#define SHARES_MASK  0x3fu
#define RESERVE      0x80u

/* Before each address; nothing follows the end but zeros. */
#define FAMILY_END  0
#define FAMILY_IPV4 4
#define FAMILY_IPV6 6

/* Of a link, in Mbit/s: it has three bytes. */
#define MAX_RATE 0xffffffu

#define IPV4_AT 12 /* where it is in its IPv6-mapped form */

/* Bits of a group's id that belong to its teams. */
#define TEAM_BITS 0xffffu

_Static_assert(OC_RECORD_SIZE <= 136, "a rank gets one of these from each other one");
_Static_assert(OC_PROTOCOL_VERSION_MAX <= UINT8_MAX, "the version has a byte");

static bool record_is_zero(const uint8_t *bytes, size_t length)
{
    while (length > 0 && 0 == bytes[length - 1]) {
        length--;
    }
    return 0 == length;
}

static size_t packed_size(const struct in6_addr *address)
{
    return 1 + (IN6_IS_ADDR_V4MAPPED(address) ? sizeof(struct in_addr) : sizeof(*address));
}

static void move_forward(struct in6_addr *addresses, unsigned from, unsigned to)
{
    struct in6_addr address = addresses[from];

    memmove(addresses + to + 1, addresses + to, (from - to) * sizeof(*addresses));
    addresses[to] = address;
}

/* One of each family has room, whatever the others are. */
static bool is_first_of_family(const struct in6_addr *addresses, unsigned index)
{
    for (unsigned i = 0; i < index; i++) {
        if (packed_size(&addresses[i]) == packed_size(&addresses[index])) {
            return false;
        }
    }
    return true;
}

unsigned oc_record_select(struct in6_addr *addresses, unsigned count)
{
    size_t room = OC_RECORD_ADDRESS_BYTES;
    unsigned kept = 0;

    for (unsigned i = 0; i < count; i++) {
        room -= is_first_of_family(addresses, i) ? packed_size(&addresses[i]) : 0;
    }
    for (unsigned i = 0; i < count; i++) {
        size_t size = is_first_of_family(addresses, i) ? 0 : packed_size(&addresses[i]);

        if (size <= room) {
            room -= size;
            move_forward(addresses, i, kept++);
        }
    }
    return kept;
}

static void put_addresses(oc_writer_t *w, const oc_record_t *record)
{
    for (unsigned i = 0; i < record->num_addresses; i++) {
        const struct in6_addr *address = &record->addresses[i];

        if (IN6_IS_ADDR_V4MAPPED(address)) {
            oc_put(w, FAMILY_IPV4, 1);
            oc_put_bytes(w, &address->s6_addr[IPV4_AT], sizeof(struct in_addr));
        } else {
            oc_put(w, FAMILY_IPV6, 1);
            oc_put_bytes(w, address, sizeof(*address));
        }
    }
}

void oc_record_encode(const oc_record_t *record, uint8_t bytes[OC_RECORD_SIZE])
{
    oc_writer_t w = {.at = bytes, .end = bytes + OC_RECORD_SIZE};

    memset(bytes, 0, OC_RECORD_SIZE);
    oc_put(&w, MAGIC, 2);
    oc_put(&w, OC_PROTOCOL_VERSION_MAX, 1);
    oc_put(&w, (uint64_t) record->offer.shares << SHARES_SHIFT | (record->ready ? READY : 0)
               | (record->reserve ? RESERVE : 0), 1);
    oc_put(&w, record->settings, 8);
    oc_put(&w, record->group, 8);
    oc_put(&w, record->job, 8);
    oc_put(&w, record->host, 8);
    oc_offer_put(&w, &record->offer);
    oc_put(&w, record->network.rate < MAX_RATE ? record->network.rate : MAX_RATE, 3);
    oc_put(&w, record->network.fabric, 1);
    oc_put(&w, record->away, 8);
    oc_put(&w, record->epoch, 4);
    oc_put(&w, record->port, 2);
    put_addresses(&w, record);
}

/* The next address, if there is one more; false: there is no such family, or no room for it. */
static bool get_address(oc_reader_t *r, oc_record_t *record)
{
    struct in6_addr *address = &record->addresses[record->num_addresses];
    uint64_t family = oc_get(r, 1);
    const uint8_t *bytes;

    if (FAMILY_IPV4 == family && NULL != (bytes = oc_get_bytes(r, sizeof(struct in_addr)))) {
        memset(&address->s6_addr[IPV4_AT - 2], 0xff, 2);
        memcpy(&address->s6_addr[IPV4_AT], bytes, sizeof(struct in_addr));
    } else if (FAMILY_IPV6 == family && NULL != (bytes = oc_get_bytes(r, sizeof(*address)))) {
        memcpy(address, bytes, sizeof(*address));
        if (IN6_IS_ADDR_V4MAPPED(address)) {
            return false;
        }
    } else {
        return false;
    }
    record->num_addresses++;
    return true;
}

static bool get_addresses(oc_reader_t *r, oc_record_t *record)
{
    while (r->at < r->end && FAMILY_END != *r->at) {
        if (0 == record->port || !get_address(r, record)) {
            return false;
        }
    }
    return record_is_zero(r->at, (size_t) (r->end - r->at));
}

static bool record_get(oc_reader_t *r, oc_record_t *record)
{
    bool known = MAGIC == oc_get(r, 2) && OC_PROTOCOL_VERSION_MAX == oc_get(r, 1);
    uint8_t state = (uint8_t) oc_get(r, 1);
    bool offers;

    record->ready = 0 != (state & READY);
    record->offer.shares = (oc_shares_t) (state >> SHARES_SHIFT & SHARES_MASK);
    record->reserve = 0 != (state & RESERVE);
    record->settings = oc_get(r, 8);
    record->group = oc_get(r, 8);
    record->job = oc_get(r, 8);
    record->host = oc_get(r, 8);
    offers = oc_offer_get(r, &record->offer);
    record->network.rate = (uint32_t) oc_get(r, 3);
    record->network.fabric = (uint32_t) oc_get(r, 1);
    record->away = oc_get(r, 8);
    record->epoch = (uint32_t) oc_get(r, 4);
    record->port = (uint16_t) oc_get(r, 2);
    return known && offers && record->network.fabric < OC_NUM_FABRICS
           && (!record->reserve || 0 != record->port) && 0 == (record->group & TEAM_BITS) && get_addresses(r, record);
}

bool oc_record_decode(const uint8_t bytes[OC_RECORD_SIZE], oc_record_t *record)
{
    oc_reader_t r = {.at = bytes, .end = bytes + OC_RECORD_SIZE};

    memset(record, 0, sizeof(*record));
    if (!record_get(&r, record)) {
        memset(record, 0, sizeof(*record));
        return false;
    }
    return true;
}

bool oc_record_of(const oc_group_t *group, uint32_t rank, oc_record_t *record)
{
    return oc_record_decode(group->setup->records + (size_t) rank * OC_RECORD_SIZE, record);
}

uint64_t oc_settings_digest(const oc_group_t *group)
{
    const oc_client_t *client = group->client;
    const oc_job_settings_t *settings = client->config.settings;
    uint64_t numbers[] = {(uint64_t) group->params.mode, client->on_hosts, client->num_embedded,
                          (uint64_t) group->hints.reduce_scatter_beside};
    uint64_t hash = oc_hash(OC_HASH_START, numbers, sizeof(numbers));

    hash = oc_settings_hash(hash, &oc_job_settings_table, settings, OC_SCOPE_FIRST);
    hash = oc_settings_hash(hash, &oc_job_settings_table, settings, OC_SCOPE_SERVERS);
    if (NULL != group->params.rules) {
        hash = oc_hash(hash, OC_MODEL_VERSION, strlen(OC_MODEL_VERSION));
        hash = oc_hash(hash, group->params.rules, sizeof(*group->params.rules));
    }
    for (unsigned i = 0; i < client->servers.count; i++) {
        const oc_server_t *server = &client->servers.servers[i];

        hash = oc_hash(hash, server->name.host, strlen(server->name.host) + 1);
        hash = oc_hash(hash, &server->name.port, sizeof(server->name.port));
        hash = oc_hash(hash, &server->weight, sizeof(server->weight));
    }
    return hash;
}
