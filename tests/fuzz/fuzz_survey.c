/* SPDX-License-Identifier: BSD-3-Clause */
/* Fuzz target: any bytes as what comes over a connection of optcast-info --multicast. */
/* Test: quick 2; default 5; all 60 */
#include "tests/fuzz/input.h"
#include "tools/survey/survey_wire.h"

/* What is accepted can be sent again, is then the same, and has texts that a terminal can show. */
static void look_at(const oc_survey_message_t *message)
{
    uint8_t first[OC_SURVEY_FRAME], second[OC_SURVEY_FRAME];
    size_t length = oc_survey_encode(message, first), used;
    oc_survey_message_t again;

    check(length <= sizeof(first));
    check(OC_OK == oc_survey_decode(first, length, &again, &used) && used == length);
    check(oc_survey_encode(&again, second) == length && 0 == memcmp(first, second, length));
    if (OC_SURVEY_HELLO == message->type) {
        check(strlen(message->hello.name) < OC_SURVEY_NAME
              && strlen(message->hello.token) < OC_SURVEY_TOKEN);
        for (const char *at = message->hello.name; '\0' != *at; at++) {
            check(*at >= ' ' && *at <= '~');
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    oc_survey_message_t message;
    size_t used = 0;

    while (OC_OK == oc_survey_decode(data, size, &message, &used)) {
        check(used > 0 && used <= size && used <= OC_SURVEY_FRAME);
        look_at(&message);
        data += used;
        size -= used;
    }
    return 0;
}
