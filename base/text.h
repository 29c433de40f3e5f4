/* SPDX-License-Identifier: BSD-3-Clause */
/* Numbers, sizes and lists as people write them. */
#ifndef OC_BASE_TEXT_H
#define OC_BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

/* Unsigned decimal with an optional K, M or G (times 1024); OC_ERR_INVALID leaves *value alone. */
oc_status_t oc_parse_size(const char *text, uint64_t *value);

/*
 * The next name of "eth0,mlx5_0:1", without the port that may follow it, as a part of the list;
 * *list moves on. False at the end.
 */
bool oc_list_next(const char **list, const char **name, size_t *length);

bool oc_list_has(const char *list, const char *name);

/* FNV-1a over bytes, chained through hash; start with OC_HASH_START. Not for security. */
#define OC_HASH_START 0xcbf29ce484222325ull
uint64_t oc_hash(uint64_t hash, const void *data, uint64_t length);

#endif
