/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes up messages. */
#include "tests/engine/lies.h"

#include <string.h>

#include "base/status.h"
#include "multicast/wire/cast_message.h"
#include "protocol/tag.h"

#define REPAIRED 64   /* bytes: a block of 60 with its checksum */

_Static_assert(2 * (OC_CAST_KINDS - OC_CAST_PROBE_REQUEST) == LIES, "each kind twice");
_Static_assert(sizeof(((lie_t *) 0)->bytes) >= OC_CAST_HEAD_MAX + REPAIRED, "all have room");

static void on_told(oc_transfer_t *transfer)
{
    ((lie_t *) transfer)->told = true;
}

static size_t make(lie_t *lie, oc_cast_kind_t kind, uint32_t sender, uint64_t token,
                   uint32_t generation)
{
    oc_cast_message_t message;
    size_t length;

    memset(&message, 0, sizeof(message));
    message.kind = kind;
    message.rank = sender;
    message.token = token;
    message.generation = generation;
    message.serial = UINT64_MAX / 2;
    message.block = sender;
    message.num_ranges = 1;
    message.ranges[0].count = 1;
    message.status = OC_ERR_REFUSED;
    length = oc_cast_encode(&message, lie->bytes);
    if (OC_CAST_REPAIR == kind) {
        memset(lie->bytes + length, 0x77, REPAIRED);
        length += REPAIRED;
    }
    lie->transfer = (oc_transfer_t) {.done = on_told};
    lie->told = false;
    return length;
}

void lies_tell(lie_t lies[LIES], oc_endpoint_t *endpoint, uint64_t token, uint32_t generation)
{
    lie_t *lie = lies;

    for (oc_cast_kind_t kind = OC_CAST_PROBE_REQUEST; kind < OC_CAST_KINDS; kind++) {
        for (uint32_t sender = 0; sender <= 2; sender += 2, lie++) {
            size_t length = make(lie, kind, sender, token, generation);

            oc_send(endpoint, &lie->transfer, lie->bytes, length,
                    oc_tag(OC_KIND_CAST, 0, 0, 0, 0));
        }
    }
}

bool lies_told(const lie_t lies[LIES])
{
    for (unsigned i = 0; i < LIES; i++) {
        if (!lies[i].told) {
            return false;
        }
    }
    return true;
}
