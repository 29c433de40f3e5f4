/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fuzz target: any bytes as the name of memory to share. Only the true name leads to a segment, and to
 * no other file of a process.
 */
/* Test: default 5; all 60 */
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "node/doorbell.h"
#include "node/segment.h"
#include "tests/fuzz/input.h"

#define SIZE 4096u
#define PAGE 4096u

/* Where the fields of a name are. */
#define PROCESS    0
#define DESCRIPTOR 4
#define LENGTH     8
#define TOKEN      16

static oc_segment_t *own;
static uint8_t name[OC_SEGMENT_NAME_SIZE];
static uint32_t decoys[2];

/* As large as the segment, with its token, but one may be made smaller and one larger. */
static uint32_t make_decoy(int seals)
{
    int fd = memfd_create("decoy", MFD_CLOEXEC | MFD_ALLOW_SEALING);

    check(fd >= 0 && 0 == ftruncate(fd, PAGE + SIZE)
          && OC_SEGMENT_NAME_SIZE - TOKEN == pwrite(fd, name + TOKEN, OC_SEGMENT_NAME_SIZE - TOKEN, 0)
          && 0 == fcntl(fd, F_ADD_SEALS, seals));
    return (uint32_t) fd;
}

static void make(void)
{
    char error[160];

    check(OC_OK == oc_segment_create(SIZE, &own, error, sizeof(error)));
    oc_segment_name(own, name);
    decoys[0] = make_decoy(F_SEAL_GROW);
    decoys[1] = make_decoy(F_SEAL_SHRINK | F_SEAL_SEAL);
}

/* Processes of others are left alone. */
static void keep_here(uint8_t *bytes, uint8_t how)
{
    if (how & 1) {
        memcpy(bytes + DESCRIPTOR, name + DESCRIPTOR, 4);
    }
    if (how & 2) {
        memcpy(bytes + LENGTH, name + LENGTH, 8);
    }
    if (how & 4) {
        memcpy(bytes + TOKEN, name + TOKEN, OC_SEGMENT_NAME_SIZE - TOKEN);
    }
    if (how & 8) {
        memcpy(bytes + DESCRIPTOR, &decoys[how >> 7], 4);
    }
    memcpy(bytes + PROCESS, name + PROCESS, 4);
    if (how & 16) {
        memset(bytes + PROCESS, how & 32 ? 0xff : 0, 4);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    input_t input = {data, data + size};
    uint8_t how = (uint8_t) input_number(&input, 1), bytes[OC_SEGMENT_NAME_SIZE];
    uint8_t bell[OC_DOORBELL_NAME_SIZE];
    oc_segment_t *segment = NULL;
    char error[160] = "";

    if (NULL == own) {
        make();
    }
    input_bytes(&input, bytes, sizeof(bytes));
    input_bytes(&input, bell, sizeof(bell));
    check(OC_OK != oc_doorbell_find(bell));
    keep_here(bytes, how);
    if (OC_OK == oc_segment_attach(bytes, &segment, error, sizeof(error))) {
        check(0 == memcmp(bytes, name, sizeof(name)) && SIZE == oc_segment_size(segment));
        memset(oc_segment_memory(segment), how, SIZE);
    } else {
        check(0 != memcmp(bytes, name, sizeof(name)) && '\0' != error[0] && NULL == segment);
    }
    oc_segment_close(segment);
    return 0;
}
