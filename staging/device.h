/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory that the host must not touch, as that of an accelerator: it is copied from and to host
 * memory, by whoever drives it. Devices live as long as the process. All functions may be called
 * from any thread.
 */
#ifndef OC_STAGING_DEVICE_H
#define OC_STAGING_DEVICE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"

typedef struct oc_device oc_device_t;

typedef enum {
    OC_FROM_DEVICE, /* to the host */
    OC_TO_DEVICE,
    OC_NUM_DIRECTIONS
} oc_direction_t;

typedef struct {
    /*
     * Begins to copy length bytes; nobody may touch either end before the copy has ended. Those of
     * one direction are done in order. *copy belongs to the caller, for end. OC_ERR_SYSTEM: the
     * driver refuses, and there is no copy.
     */
    oc_status_t (*begin)(oc_device_t *device, oc_direction_t direction, void *to, const void *from,
                         size_t length, void **copy);
    /* Whether a copy is over, so that end will not wait. */
    bool (*is_over)(oc_device_t *device, void *copy);
    /* Waits until it is over, and frees it. OC_ERR_SYSTEM: what was to be copied was not. */
    oc_status_t (*end)(oc_device_t *device, void *copy);
    /* Tells the driver of host memory that copies will use often. Nothing depends on it. */
    void (*pin)(oc_device_t *device, void *memory, size_t length);
    void (*unpin)(oc_device_t *device, void *memory);
    /* Why something failed, for people: the last reason on this device. Never NULL. */
    const char *(*reason)(const oc_device_t *device);
} oc_device_ops_t;

/* The beginning of each driver's own. */
struct oc_device {
    const oc_device_ops_t *ops;
};

/* From begin to end. */
static inline oc_status_t oc_device_copy(oc_device_t *device, oc_direction_t direction, void *to,
                                         const void *from, size_t length)
{
    void *copy;
    oc_status_t status = device->ops->begin(device, direction, to, from, length, &copy);

    return OC_OK == status ? device->ops->end(device, copy) : status;
}

#endif
