/* SPDX-License-Identifier: BSD-3-Clause */
/* What fuzz targets share: they end at whatever is not sound, and take numbers from their input. */
#ifndef OC_TESTS_FUZZ_INPUT_H
#define OC_TESTS_FUZZ_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A finding, with the stack of whoever asked. */
static inline void check(bool sound)
{
    if (!sound) {
        abort();
    }
}

typedef struct {
    const uint8_t *at, *end;
} input_t;

/* At most 8 bytes; zeros behind the end. */
static inline uint64_t input_number(input_t *input, size_t bytes)
{
    size_t rest = (size_t) (input->end - input->at);
    uint64_t value = 0;

    bytes = bytes < rest ? bytes : rest;
    if (bytes > 0) {
        memcpy(&value, input->at, bytes);
        input->at += bytes;
    }
    return value;
}

/* size bytes, those that are missing zero. */
static inline void input_bytes(input_t *input, void *to, size_t size)
{
    size_t rest = (size_t) (input->end - input->at);

    memset(to, 0, size);
    size = size < rest ? size : rest;
    if (size > 0) {
        memcpy(to, input->at, size);
        input->at += size;
    }
}

#endif
