/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * To be preloaded into process 0 of a job: what it publishes for the component coll/optcast becomes
 * OPTCAST_RECORD_BYTES longer, or shorter if that is negative, as in another version.
 */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* As in pmix_common.h, which not every system with a libpmix has. */
#define BYTE_OBJECT 27

typedef struct {
    uint16_t type;
    union {
        struct {
            char *bytes;
            size_t size;
        } object;
        uint64_t other[4];
    } data;
} value_t;

/* NOLINTNEXTLINE(readability-identifier-naming): the library's name */
int PMIx_Put(uint8_t scope, const char *key, value_t *value);

int PMIx_Put(uint8_t scope, const char *key, value_t *value)
{
    int (*put)(uint8_t, const char *, value_t *) =
        (int (*)(uint8_t, const char *, value_t *)) dlsym(RTLD_NEXT, "PMIx_Put");
    const char *text = getenv("OPTCAST_RECORD_BYTES");
    long more = NULL == text ? 0 : strtol(text, NULL, 10);
    value_t changed = *value;
    char *copy;
    int rc;

    if (0 == more || NULL == strstr(key, "optcast") || BYTE_OBJECT != value->type) {
        return put(scope, key, value);
    }
    changed.data.object.size = (size_t) ((long) value->data.object.size + more);
    copy = calloc(1, changed.data.object.size);
    if (NULL == copy) {
        abort();
    }
    memcpy(copy, value->data.object.bytes,
           more < 0 ? changed.data.object.size : value->data.object.size);
    changed.data.object.bytes = copy;
    fprintf(stderr, "the record has %zu bytes instead of %zu\n", changed.data.object.size,
            value->data.object.size);
    rc = put(scope, key, &changed);
    free(copy);
    return rc;
}
