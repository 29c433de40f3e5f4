/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Codes of the messages with header that an aggregator sends and gets. What has a wrong one was not
 * made by this job: it is dropped, and counted, and ends nothing.
 */
#include "server/aggregator/server_codes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "protocol/seal.h"

static void server_codes_refuse(oc_aggregator_t *aggregator)
{
    oc_command_t *command = oc_command_new(OC_COMMAND_JOB_ERROR, NULL, 0);

    if (NULL != command) {
        command->status = OC_ERR_SYSTEM;
        snprintf(command->text, sizeof(command->text), "OpenSSL's libcrypto cannot be used: the "
                 "server's messages would have no codes");
        oc_mailbox_post(aggregator->config.control, command);
    }
}

void oc_server_codes_open(oc_aggregator_t *aggregator, oc_command_t *command)
{
    oc_secret_t secret;

    memcpy(&secret, command->data, sizeof(secret));
    aggregator->codes = oc_seal_new(secret.key, secret.leaf);
    aggregator->codes_above = 0 == secret.leaf ? NULL : oc_seal_new(secret.key, 0);
    if (NULL == aggregator->codes || (0 != secret.leaf && NULL == aggregator->codes_above)) {
        server_codes_refuse(aggregator);
    }
    explicit_bzero(command->data, sizeof(secret));
    explicit_bzero(&secret, sizeof(secret));
}

void oc_server_codes_close(oc_aggregator_t *aggregator)
{
    oc_mac_free(aggregator->codes);
    oc_mac_free(aggregator->codes_above);
}

void oc_server_seal_reply(const oc_server_group_t *group, const oc_header_t *header,
                          uint8_t *message, size_t length)
{
    oc_header_encode(header, message);
    oc_seal(group->aggregator->codes, group->id, group->index, header, message, length);
}

void oc_server_seal_above(const oc_server_group_t *group, const oc_header_t *header,
                          uint8_t *message, size_t length)
{
    oc_header_encode(header, message);
    oc_seal(group->aggregator->codes_above, group->id, group->index, header, message, length);
}

bool oc_server_is_genuine(const oc_server_group_t *group, const oc_request_t *request)
{
    return oc_is_sealed(group->aggregator->codes, group->id, group->index, &request->header,
                        request->bytes, request->transfer.length);
}

bool oc_server_is_from_above(const oc_server_group_t *group, const oc_transfer_t *transfer,
                             const uint8_t *message, oc_header_t *header)
{
    return OC_OK == transfer->status
           && OC_OK == oc_header_decode(message, transfer->length, header)
           && oc_is_sealed(group->aggregator->codes_above, group->id, group->index, header, message,
                           transfer->length);
}

void oc_server_count_forged(oc_aggregator_t *aggregator, size_t length)
{
    if (0 == aggregator->forged++) {
        oc_warn("aggregator %u dropped a message of %zu bytes that nobody of its job has made: its "
                "code is wrong, or it has no header; further ones are counted",
                aggregator->config.index, length);
    }
}
