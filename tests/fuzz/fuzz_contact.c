/* SPDX-License-Identifier: BSD-3-Clause */
/* Fuzz target: any bytes as the way to reach a rank; what is accepted says what it means. */
/* Test: default 5; all 60 */
#include <stdlib.h>
#include <string.h>

#include "multicast/wire/contact.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint8_t again[OC_CONTACT_MAX];
    oc_contact_t contact;
    size_t length;

    if (!oc_contact_decode(data, size, &contact)) {
        return 0;
    }
    if (0 == contact.length || contact.length > OC_CONTACT_ADDRESS_SIZE
        || contact.num_hosts > OC_CONTACT_HOSTS) {
        abort();
    }
    length = oc_contact_encode(&contact, again);
    if (length > size || 0 != memcmp(again, data, length)) {
        abort();
    }
    return 0;
}
