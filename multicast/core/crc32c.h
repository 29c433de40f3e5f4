/* SPDX-License-Identifier: BSD-3-Clause */
/* CRC32C (Castagnoli), the checksum of blocks. Pure functions, any thread. */
#ifndef OC_MULTICAST_CORE_CRC32C_H
#define OC_MULTICAST_CORE_CRC32C_H

#include <stddef.h>
#include <stdint.h>

/*
 * The checksum of bytes that come after those with the checksum crc; 0 if there are none before.
 * Reflected, with the usual inversions inside: "123456789" gives 0xe3069283.
 */
uint32_t oc_crc32c(uint32_t crc, const void *data, size_t length);

/* The same without instructions for it, as on CPUs that have none. */
uint32_t oc_crc32c_table(uint32_t crc, const void *data, size_t length);

#endif
