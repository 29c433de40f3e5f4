/* SPDX-License-Identifier: BSD-3-Clause */
/* The identity of a host, from what the kernel says. */
#include "net/host.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"

uint64_t oc_host_identity(void)
{
    char text[128] = "";
    FILE *file = fopen("/proc/sys/kernel/random/boot_id", "re");
    uint64_t hash = OC_HASH_START;
    ssize_t length;

    if (NULL != file) {
        if (NULL != fgets(text, sizeof(text), file)) {
            hash = oc_hash(hash, text, strlen(text));
        }
        fclose(file);
    }
    length = readlink("/proc/self/ns/net", text, sizeof(text));
    if (length > 0) {
        hash = oc_hash(hash, text, (uint64_t) length);
    }
    return hash;
}
