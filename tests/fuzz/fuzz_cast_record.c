/* SPDX-License-Identifier: BSD-3-Clause */
/* Fuzz target: any bytes as what ranks told at set-up, two of them; judged, it names one of them. */
/* Test: default 5; all 60 */
#include <stdlib.h>
#include <string.h>

#include "multicast/service/cast_record.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define RANKS 2

static void check(const uint8_t *bytes)
{
    oc_cast_record_t record, second;
    uint8_t again[OC_MULTICAST_RECORD_SIZE];

    memset(&record, 0, sizeof(record));
    memset(&second, 0, sizeof(second));
    if (!oc_cast_record_decode(bytes, &record)) {
        return;
    }
    oc_cast_record_encode(&record, again);
    if (!oc_cast_record_decode(again, &second) || 0 != memcmp(&record, &second, sizeof(record))) {
        abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    /* on the heap, so that nothing behind them is read unnoticed */
    uint8_t *records = calloc(RANKS, OC_MULTICAST_RECORD_SIZE);
    oc_multicast_terms_t terms;
    uint32_t blamed = RANKS;
    char reason[300] = "";
    oc_status_t status;

    memcpy(records, data,
           size < RANKS * OC_MULTICAST_RECORD_SIZE ? size : RANKS * OC_MULTICAST_RECORD_SIZE);
    check(records);
    check(records + OC_MULTICAST_RECORD_SIZE);
    status = oc_cast_records_judge(records, RANKS, OC_MULTICAST_AUTO, &terms, &blamed, reason,
                                   sizeof(reason));
    if ((OC_OK != status && (OC_DECLINED != status || blamed >= RANKS || '\0' == reason[0]))
        || (OC_OK == status && (terms.datagram_size < OC_DATAGRAM_MIN || 0 == terms.token))) {
        abort();
    }
    free(records);
    return 0;
}
