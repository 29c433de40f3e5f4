/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What processes of one host tell each other about messages that lie in memory that they share.
 * Codec; pure functions, any thread. doc/multicast.md has the layout.
 */
#ifndef OC_MULTICAST_NOTE_H
#define OC_MULTICAST_NOTE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "multicast/shelf.h"

#define OC_NOTE_SIZE 52

typedef enum {
    OC_NOTE_LAID = 1,          /* a message lies there for you */
    OC_NOTE_REFUSED,           /* I cannot get at your memory: send me everything */
    OC_NOTE_KINDS
} oc_note_kind_t;

typedef struct {
    oc_note_kind_t kind;
    uint32_t process;          /* the sender's rank in the job */
    uint8_t shelf[OC_SEGMENT_NAME_SIZE];
    oc_place_t place;          /* LAID */
} oc_note_t;

void oc_note_encode(const oc_note_t *note, uint8_t bytes[OC_NOTE_SIZE]);

/* false: it makes no sense. Whether shelf and place exist is not known here. */
bool oc_note_decode(const uint8_t *bytes, size_t length, oc_note_t *note);

#endif
