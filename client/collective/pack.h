/* SPDX-License-Identifier: BSD-3-Clause */
/* Elements with gaps (a double and an int in a structure) and their copy without. */
#ifndef OC_CLIENT_COLLECTIVE_PACK_H
#define OC_CLIENT_COLLECTIVE_PACK_H

#include <stddef.h>

#include "client/client.h"

/*
 * packed has count times size bytes: the first part of each element and, right behind, the second.
 */
void oc_pack(void *packed, const void *elements, size_t count, size_t size,
             const oc_layout_t *layout);

/* The other way round. What lies between and behind the parts of elements stays as it is. */
void oc_unpack(void *elements, const void *packed, size_t count, size_t size,
               const oc_layout_t *layout);

#endif
