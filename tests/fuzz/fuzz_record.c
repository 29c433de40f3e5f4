/* SPDX-License-Identifier: BSD-3-Clause */
/* Fuzz target: any bytes as the record that a rank got from another one at set-up. */
/* Test: default 5; all 60 */
#include <stdlib.h>
#include <string.h>

#include "client/state/record.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    /* as large as a record, on the heap, so that nothing behind it is read unnoticed */
    uint8_t *bytes = calloc(1, OC_RECORD_SIZE), again[OC_RECORD_SIZE];
    oc_record_t record;

    memcpy(bytes, data, size < OC_RECORD_SIZE ? size : OC_RECORD_SIZE);
    if (oc_record_decode(bytes, &record)) {
        /* a record has one form */
        oc_record_encode(&record, again);
        if (record.num_addresses > OC_RECORD_MAX_ADDRESSES
            || 0 != memcmp(again, bytes, OC_RECORD_SIZE)) {
            abort();
        }
    }
    free(bytes);
    return 0;
}
