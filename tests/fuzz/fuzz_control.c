/* SPDX-License-Identifier: BSD-3-Clause */
/* Fuzz target: any bytes as a control message; what was understood must be what is sent again. */
/* Test: quick 2; default 5; all 60 */
#include <stdlib.h>
#include <string.h>

#include "protocol/control.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_text(const oc_bytes_t *text)
{
    char buffer[64];

    oc_control_text(text, buffer, sizeof(buffer));
    for (size_t i = 0; i < strlen(buffer); i++) {
        if (buffer[i] < ' ' || buffer[i] > '~') {
            abort();
        }
    }
}

/* A stranger's limit changes nothing but what is too long for it. */
static void check_stranger(const uint8_t *data, size_t size, long used)
{
    oc_control_t message;
    long got = oc_control_decode(data, size, OC_MAX_HELLO_BODY, &message);

    if (OC_ERR_LIMIT == got ? used > 0 && (size_t) used <= OC_FRAME_SIZE + OC_MAX_HELLO_BODY
                            : used != got) {
        abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static uint8_t again[OC_MAX_BODY + OC_FRAME_SIZE];
    oc_control_t message;
    long used = size > 0 ? oc_control_decode(data, size, OC_MAX_BODY, &message) : 0;

    if (size > 0) {
        check_stranger(data, size, used);
    }
    if (used <= 0) {
        return 0;
    }
    if ((size_t) used > size || (size_t) used != oc_control_encode(&message, again, sizeof(again))
        || 0 != memcmp(again, data, (size_t) used)) {
        abort();
    }
    if (0 != oc_control_decode(data, (size_t) used - 1, OC_MAX_BODY, &message)) {
        abort();
    }
    if (OC_CONTROL_REFUSE == message.type) {
        (void) oc_control_decode(data, size, OC_MAX_BODY, &message);
        check_text(&message.notice.text);
    }
    if (OC_CONTROL_SIGHT == message.type) {
        (void) oc_control_decode(data, size, OC_MAX_BODY, &message);
        check_text(&message.sight.text);
        if (message.sight.view >= OC_VIEWS) {
            abort();
        }
    }
    return 0;
}
