/* SPDX-License-Identifier: BSD-3-Clause */
/* How the ranks of a host read and write their callers' buffers, in host memory or through stages. */
#include "client/group/relay_buffers.h"

#include <string.h>

#include "client/group/group.h"
#include "client/group/relay_state.h"

void oc_relay_write_out(const oc_relay_t *relay, size_t offset, size_t length, const uint8_t *from)
{
    const oc_cast_args_t *args = relay->args;

    if (NULL != args->recv_stage) {
        (void) oc_stage_write(args->recv_stage, offset, length, from);
    } else {
        memcpy((uint8_t *) args->recv + offset, from, length);
    }
}

/* A part of this rank's own block. */
void oc_relay_read_in(const oc_relay_t *relay, size_t at, size_t length, void *to)
{
    const oc_cast_args_t *args = relay->args;
    size_t place = oc_relay_offset(args, relay->group->params.rank) + at;
    oc_stage_t *stage = NULL != args->send ? args->send_stage : args->recv_stage;

    if (NULL != stage) {
        (void) oc_stage_read(stage, NULL != args->send ? at : place, length, to);
    } else {
        memcpy(to, NULL != args->send ? (const uint8_t *) args->send + at
                                      : (const uint8_t *) args->recv + place, length);
    }
}

/* A part of the packed vector; this rank's own block is in the caller's buffer already. */
void oc_relay_scatter(const oc_relay_t *relay, size_t at, size_t length, const uint8_t *from)
{
    while (length > 0) {
        oc_relay_part_t part = oc_relay_map_part(&relay->map, at, length);

        if (part.rank != relay->group->params.rank) {
            oc_relay_write_out(relay, oc_relay_offset(relay->args, part.rank) + part.at,
                               part.length, from);
        }
        at += part.length;
        from += part.length;
        length -= part.length;
    }
}

/* What this rank gives to all also belongs into its own receive buffer. */
void oc_relay_keep_own(const oc_relay_t *relay)
{
    const oc_cast_args_t *args = relay->args;
    size_t length = oc_relay_length(args, relay->group->params.rank);
    size_t offset = oc_relay_offset(args, relay->group->params.rank);
    uint8_t part[4096];

    if (NULL == args->send || 0 == length) {
        return;
    }
    if (NULL == args->send_stage && NULL == args->recv_stage) {
        memmove((uint8_t *) args->recv + offset, args->send, length);
        return;
    }
    for (size_t at = 0; at < length; at += sizeof(part)) {
        size_t bytes = length - at < sizeof(part) ? length - at : sizeof(part);

        oc_relay_read_in(relay, at, bytes, part);
        oc_relay_write_out(relay, offset + at, bytes, part);
    }
}
