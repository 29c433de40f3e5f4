/* SPDX-License-Identifier: BSD-3-Clause */
/* What an interface gets in one piece from TCP. Any thread. */
#ifndef OC_MULTICAST_TRANSPORT_PIECE_H
#define OC_MULTICAST_TRANSPORT_PIECE_H

#include <stddef.h>

#include "multicast/transport/interface.h"

/* Bytes of the largest one, its gso_max_size; where the kernel does not tell, 64 KiB, which most have. */
size_t oc_interface_piece(const oc_interface_t *interface);

#endif
