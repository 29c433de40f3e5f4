/* SPDX-License-Identifier: BSD-3-Clause */
/* Numbers hosts by what their ranks say of them. */
#include "multicast/service/cast_hosts.h"

#include <stdlib.h>
#include <uthash.h>

#include "multicast/service/cast_record.h"

typedef struct {
    uint64_t identity;
    uint32_t number;
    UT_hash_handle hh;
} host_t;

static bool number_host(host_t **table, uint64_t identity, uint32_t *number)
{
    host_t *host;

    HASH_FIND(hh, *table, &identity, sizeof(identity), host);
    if (NULL == host) {
        host = calloc(1, sizeof(*host));
        if (NULL == host) {
            return false;
        }
        host->identity = identity;
        host->number = HASH_COUNT(*table);
        HASH_ADD(hh, *table, identity, sizeof(host->identity), host);
    }
    *number = host->number;
    return true;
}

static void forget_hosts(host_t **table)
{
    host_t *host, *next;

    HASH_ITER(hh, *table, host, next) {
        HASH_DEL(*table, host);
        free(host);
    }
}

bool oc_hosts_number(const uint8_t *records, uint32_t num_ranks, uint32_t *numbers,
                     uint32_t *num_hosts)
{
    oc_cast_record_t record;
    host_t *table = NULL;
    bool good = true;

    for (uint32_t rank = 0; good && rank < num_ranks; rank++) {
        oc_cast_record_decode(records + (size_t) rank * OC_MULTICAST_RECORD_SIZE, &record);
        good = number_host(&table, record.host, &numbers[rank]);
    }
    *num_hosts = HASH_COUNT(table);
    forget_hosts(&table);
    return good;
}
