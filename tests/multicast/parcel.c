/* SPDX-License-Identifier: BSD-3-Clause */
/* Owns the memory of parcels. */
#include "tests/multicast/parcel.h"

#include <stdlib.h>
#include <string.h>

#include "tests/multicast/memory.h"

parcel_t *parcel_pack(uint32_t from, const void *head, size_t head_length, const void *data,
                      size_t data_length)
{
    parcel_t *parcel = memory_resize(NULL, sizeof(*parcel) + head_length + data_length);

    *parcel = (parcel_t) {.users = 1, .from = from, .length = head_length + data_length};
    if (head_length > 0) {
        memcpy(parcel->bytes, head, head_length);
    }
    if (data_length > 0) {
        memcpy(parcel->bytes + head_length, data, data_length);
    }
    return parcel;
}

void parcel_drop(parcel_t *parcel)
{
    if (NULL != parcel && 0 == --parcel->users) {
        free(parcel);
    }
}
