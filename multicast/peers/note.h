/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What processes of one host tell each other about messages that lie in memory that they share.
 * Codec and codes; any thread, but one at a time for a key. doc/multicast.md has the layout.
 */
#ifndef OC_MULTICAST_PEERS_NOTE_H
#define OC_MULTICAST_PEERS_NOTE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/mac.h"
#include "multicast/peers/shelf.h"

#define OC_NOTE_SIZE (OC_MAC_SIZE + 60)

/* For which oc_mac_new makes a key of the job's, without a context. */
#define OC_NOTE_PURPOSE "optcast multicast note"

typedef enum {
    OC_NOTE_LAID = 1,          /* a message lies there for you */
    OC_NOTE_REFUSED,           /* I cannot get at your memory: send me everything */
    OC_NOTE_KINDS
} oc_note_kind_t;

typedef struct {
    oc_note_kind_t kind;
    uint32_t process;          /* the sender's rank in the job */
    uint64_t serial;           /* another one for each note from this process to the receiver */
    uint8_t shelf[OC_SEGMENT_NAME_SIZE];
    oc_cast_place_t place;          /* LAID */
} oc_note_t;

/* With a code of zeros. */
void oc_note_encode(const oc_note_t *note, uint8_t bytes[OC_NOTE_SIZE]);

/* false: it makes no sense. Whether its code fits, and shelf and place exist, is not known here. */
bool oc_note_decode(const uint8_t *bytes, size_t length, oc_note_t *note);

/* Puts the code into an encoded note for a process. */
void oc_note_seal(oc_mac_t *mac, uint32_t receiver, const oc_note_t *note,
                  uint8_t bytes[OC_NOTE_SIZE]);

/* bytes: the whole note, which was decoded. */
bool oc_note_fits(oc_mac_t *mac, uint32_t receiver, const oc_note_t *note,
                  const uint8_t bytes[OC_NOTE_SIZE]);

#endif
