/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Little-endian fields in a byte buffer. A reader or writer that would pass its end sets bad
 * and does nothing from then on, so that codecs check once, at the end.
 */
#ifndef OC_BASE_WIRE_H
#define OC_BASE_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Vectors travel as they lie in memory: every host of a job has to agree about that. */
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "only little-endian hosts are supported");

typedef struct {
    uint8_t *at, *end;
    bool bad;
} oc_writer_t;

typedef struct {
    const uint8_t *at, *end;
    bool bad;
} oc_reader_t;

/*
 * The number of bytes is a constant nearly everywhere: inlined, a field is one instruction or two.
 */
#define OC_WIRE_INLINE static inline __attribute__((always_inline))

/* At most 8 bytes. */
OC_WIRE_INLINE void oc_put(oc_writer_t *w, uint64_t value, unsigned bytes)
{
    if (w->bad || (size_t) (w->end - w->at) < bytes) {
        w->bad = true;
        return;
    }
    memcpy(w->at, &value, bytes);
    w->at += bytes;
}

static inline void oc_put_bytes(oc_writer_t *w, const void *data, size_t length)
{
    if (w->bad || (size_t) (w->end - w->at) < length) {
        w->bad = true;
        return;
    }
    if (length > 0) {
        memcpy(w->at, data, length);
        w->at += length;
    }
}

/* At most 8 bytes. */
OC_WIRE_INLINE uint64_t oc_get(oc_reader_t *r, unsigned bytes)
{
    uint64_t value = 0;

    if (r->bad || (size_t) (r->end - r->at) < bytes) {
        r->bad = true;
        return 0;
    }
    memcpy(&value, r->at, bytes);
    r->at += bytes;
    return value;
}

/* A pointer into the buffer, or NULL when there are not that many bytes left. */
static inline const uint8_t *oc_get_bytes(oc_reader_t *r, size_t length)
{
    const uint8_t *bytes = r->at;

    if (r->bad || (size_t) (r->end - r->at) < length) {
        r->bad = true;
        return NULL;
    }
    r->at += length;
    return bytes;
}

#endif
