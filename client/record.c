/* SPDX-License-Identifier: BSD-3-Clause */
/* The bytes of records, and what goes into their digest. */
#include "client/record.h"

#include <string.h>

#include "base/text.h"
#include "client/setup.h"
#include "protocol/wire.h"

#define RECORD_MAGIC 0x5243434fu /* "OCCR" */

void oc_record_encode(const oc_record_t *record, uint8_t bytes[OC_RECORD_SIZE])
{
    oc_writer_t w = {.at = bytes, .end = bytes + OC_RECORD_SIZE};

    memset(bytes, 0, OC_RECORD_SIZE);
    oc_put(&w, RECORD_MAGIC, 4);
    oc_put(&w, OC_PROTOCOL_VERSION_MAX, 2);
    oc_put(&w, record->ready, 1);
    oc_put(&w, record->num_addresses, 1);
    oc_put(&w, record->settings, 8);
    oc_put(&w, record->group, 8);
    oc_put_bytes(&w, record->job_id, OC_JOB_ID_SIZE);
    oc_put(&w, record->process, 4);
    oc_put(&w, record->port, 2);
    oc_put(&w, record->host, 8);
    oc_put(&w, record->node, 8);
    oc_put(&w, record->shares, 1);
    oc_put_bytes(&w, record->segment, OC_SEGMENT_NAME_SIZE);
    oc_put_bytes(&w, record->bell, OC_DOORBELL_NAME_SIZE);
    oc_put_bytes(&w, record->addresses, record->num_addresses * sizeof(struct in6_addr));
}

bool oc_record_decode(const uint8_t bytes[OC_RECORD_SIZE], oc_record_t *record)
{
    oc_reader_t r = {.at = bytes, .end = bytes + OC_RECORD_SIZE};
    bool known = RECORD_MAGIC == oc_get(&r, 4) && OC_PROTOCOL_VERSION_MAX == oc_get(&r, 2);

    record->ready = (uint8_t) oc_get(&r, 1);
    record->num_addresses = (uint8_t) oc_get(&r, 1);
    record->settings = oc_get(&r, 8);
    record->group = oc_get(&r, 8);
    memcpy(record->job_id, oc_get_bytes(&r, OC_JOB_ID_SIZE), OC_JOB_ID_SIZE);
    record->process = (uint32_t) oc_get(&r, 4);
    record->port = (uint16_t) oc_get(&r, 2);
    record->host = oc_get(&r, 8);
    record->node = oc_get(&r, 8);
    record->shares = (uint8_t) oc_get(&r, 1);
    memcpy(record->segment, oc_get_bytes(&r, OC_SEGMENT_NAME_SIZE), OC_SEGMENT_NAME_SIZE);
    memcpy(record->bell, oc_get_bytes(&r, OC_DOORBELL_NAME_SIZE), OC_DOORBELL_NAME_SIZE);
    if (!known || record->num_addresses > OC_MAX_OWN_ADDRESSES) {
        return false;
    }
    memcpy(record->addresses,
           oc_get_bytes(&r, record->num_addresses * sizeof(struct in6_addr)),
           record->num_addresses * sizeof(struct in6_addr));
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
    uint64_t numbers[] = {(uint64_t) group->params.mode, settings->min_size,
                          (uint64_t) settings->max_ranks, settings->small_size,
                          settings->chunk_size, (uint64_t) settings->min_chunks,
                          (uint64_t) settings->window, (uint64_t) settings->peer_aggregation,
                          (uint64_t) settings->reproducible,
                          client->on_hosts, client->num_embedded};
    uint64_t hash = oc_hash(OC_HASH_START, numbers, sizeof(numbers));

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
