/* SPDX-License-Identifier: BSD-3-Clause */
/* Numbers and sizes as people write them. */
#ifndef OC_BASE_TEXT_H
#define OC_BASE_TEXT_H

#include <stdint.h>

#include "base/status.h"

/* Unsigned decimal with an optional K, M or G (times 1024); OC_ERR_INVALID leaves *value alone. */
oc_status_t oc_parse_size(const char *text, uint64_t *value);

/* FNV-1a over bytes, chained through hash; start with OC_HASH_START. Not for security. */
#define OC_HASH_START 0xcbf29ce484222325ull
uint64_t oc_hash(uint64_t hash, const void *data, uint64_t length);

#endif
