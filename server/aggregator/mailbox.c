/* SPDX-License-Identifier: BSD-3-Clause */
/* The locked list behind a mailbox. */
#include "server/aggregator/mailbox.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>
#include <utlist.h>

#include "base/descriptors.h"

oc_status_t oc_mailbox_open(oc_mailbox_t *box)
{
    box->list = NULL;
    box->event_fd = oc_fd_make(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    if (box->event_fd < 0) {
        return OC_ERR_SYSTEM;
    }
    pthread_mutex_init(&box->lock, NULL);
    return OC_OK;
}

void oc_mailbox_close(oc_mailbox_t *box)
{
    oc_command_t *command, *next;

    if (box->event_fd < 0) {
        return;
    }
    DL_FOREACH_SAFE (box->list, command, next) {
        if (OC_COMMAND_ADOPT == command->type) {
            oc_fd_close(command->fd);
        }
        free(command);
    }
    box->list = NULL;
    oc_fd_close(box->event_fd);
    box->event_fd = -1;
    pthread_mutex_destroy(&box->lock);
}

oc_command_t *oc_command_new(oc_command_type_t type, const void *data, size_t length)
{
    oc_command_t *command = calloc(1, sizeof(*command) + length);

    if (NULL == command) {
        return NULL;
    }
    command->type = type;
    command->fd = -1;
    command->length = length;
    if (length > 0) {
        memcpy(command->data, data, length);
    }
    return command;
}

void oc_mailbox_post(oc_mailbox_t *box, oc_command_t *command)
{
    uint64_t one = 1;
    ssize_t written;

    pthread_mutex_lock(&box->lock);
    DL_APPEND(box->list, command);
    /* under the lock, so that a reset in take cannot come between the two */
    if (!atomic_exchange(&box->has_mail, true)) {
        written = write(box->event_fd, &one, sizeof(one));
        (void) written;
    }
    pthread_mutex_unlock(&box->lock);
}

bool oc_mailbox_has_mail(const oc_mailbox_t *box)
{
    return atomic_load_explicit(&box->has_mail, memory_order_relaxed);
}

oc_command_t *oc_mailbox_take(oc_mailbox_t *box)
{
    oc_command_t *command;
    uint64_t count;
    ssize_t got;

    pthread_mutex_lock(&box->lock);
    command = box->list;
    assert(NULL == command || atomic_load(&box->has_mail));
    if (NULL != command) {
        DL_DELETE(box->list, command);
    } else {
        atomic_store(&box->has_mail, false);
        got = read(box->event_fd, &count, sizeof(count));
        (void) got;
    }
    pthread_mutex_unlock(&box->lock);
    return command;
}
