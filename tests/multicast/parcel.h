/* SPDX-License-Identifier: BSD-3-Clause */
/* Bytes that are under way on the simulated network: a datagram for all or a message for one. */
#ifndef OC_TESTS_MULTICAST_PARCEL_H
#define OC_TESTS_MULTICAST_PARCEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What a message is on its way to, if it is so long that both ends have to agree first. */
typedef enum {
    PARCEL_WHOLE,     /* its bytes are under way */
    PARCEL_ASKS,      /* whether it may come */
    PARCEL_MAY_COME,
} parcel_stage_t;

typedef struct {
    unsigned users;
    uint32_t from, to;           /* from: a node, or NOWHERE */
    bool counts;                 /* of a message: among the unsent ones */
    parcel_stage_t stage;
    size_t length;
    uint8_t bytes[];
} parcel_t;

/* users is 1. */
parcel_t *parcel_pack(uint32_t from, const void *head, size_t head_length, const void *data,
                      size_t data_length);
/* NULL is allowed. */
void parcel_drop(parcel_t *parcel);

#endif
