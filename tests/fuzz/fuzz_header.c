/* SPDX-License-Identifier: BSD-3-Clause */
/* Fuzz target: any bytes as a data-plane message; a header that is accepted says what it means. */
/* Test: quick 2; default 5; all 60 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "protocol/message.h"
#include "protocol/tag.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The tag of whatever answers it holds its numbers. */
static void check_tag(const oc_header_t *header)
{
    uint64_t tag = oc_tag(OC_KIND_REPLY, header->handle, header->rank, header->sequence,
                          header->chunks);

    if (OC_KIND_REPLY != oc_tag_kind(tag) || oc_tag_handle(tag) != header->handle
        || oc_tag_rank(tag) != header->rank) {
        abort();
    }
}

static void check_limits(const oc_header_t *header, size_t size)
{
    if (header->handle > OC_HANDLE_MAX || header->rank >= OC_MAX_RANKS) {
        abort();
    }
    if (OC_MESSAGE_SMALL == header->message || OC_MESSAGE_RESULT == header->message) {
        if (header->chunk_bytes != size - OC_HEADER_SIZE || size > OC_HEADER_SIZE + OC_MAX_SMALL) {
            abort();
        }
    } else if (OC_MESSAGE_RESEND == header->message) {
        if (OC_HEADER_SIZE != size || 0 == header->chunk_bytes
            || header->chunk_bytes > OC_MAX_SMALL) {
            abort();
        }
    } else if (OC_HEADER_SIZE != size || 0 == header->chunks) {
        abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint8_t again[OC_HEADER_SIZE], expected[OC_HEADER_SIZE];
    oc_header_t header;

    if (OC_OK != oc_header_decode(data, size, &header)) {
        return 0;
    }
    check_limits(&header, size);
    check_tag(&header);
    oc_header_encode(&header, again);
    memcpy(expected, data, OC_HEADER_SIZE);
    /* reserved fields and bits are sent as zeros and not looked at */
    expected[7] &= OC_MESSAGE_START == header.message && OC_TO_OWNERS == header.to ? 3 : 1;
    if (OC_MESSAGE_START != header.message || OC_TO_OWNERS != header.to) {
        memset(expected + 28, 0, 4);
    }
    memset(expected + 48, 0, 16);
    if (0 != memcmp(again, expected, OC_HEADER_SIZE)) {
        abort();
    }
    return 0;
}
