/* SPDX-License-Identifier: BSD-3-Clause */
/* Commands between the threads of a job: a locked list and an eventfd to sleep on. */
#ifndef OC_SERVER_AGGREGATOR_MAILBOX_H
#define OC_SERVER_AGGREGATOR_MAILBOX_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/limits.h"
#include "base/status.h"

typedef enum {
    /* control thread -> aggregator */
    OC_COMMAND_CLIENT_ADD,   /* client, data: its worker address */
    OC_COMMAND_CLIENT_DROP,  /* client */
    OC_COMMAND_KEY,          /* data: oc_secret_t; before all that follows */
    OC_COMMAND_MEMBER_ADD,   /* member, client */
    OC_COMMAND_GROUP_DROP,   /* handle */
    OC_COMMAND_PARENT_ADD,   /* data: the worker address of the server above */
    OC_COMMAND_GROUP_ABOVE,  /* handle, token: the group's handle on the server above;
                                eager_window: of the server above */
    OC_COMMAND_PING,         /* token */
    OC_COMMAND_STOP,
    /* aggregator -> control thread */
    OC_COMMAND_PONG,         /* token */
    OC_COMMAND_GROUP_ERROR,  /* handle, status, text */
    OC_COMMAND_CLIENT_LOST,  /* client */
    OC_COMMAND_PARENT_LOST,
    OC_COMMAND_JOB_ERROR,    /* status, text */
    OC_COMMAND_LOOK,         /* memory is taken: it is time to look how much there is */
    /* anybody -> control thread */
    OC_COMMAND_ADOPT,        /* fd, data: the HELLO as it came */
} oc_command_type_t;

/* What the codes of messages are made with. */
typedef struct {
    uint8_t key[OC_JOB_KEY_SIZE];
    uint64_t leaf;           /* identity of this server if it is one; else 0 */
} oc_secret_t;

/* One rank of a group as an aggregator needs it. */
typedef struct {
    uint64_t group;
    uint32_t handle, num_ranks, rank, reply_handle;
    uint32_t aggregator;     /* index of the receiver in the group */
    uint32_t chunk_bytes, window, small_bytes;
    bool reserves, renewed;
    bool tree;               /* it goes through a tree of servers … */
    uint32_t leaves, leaf;   /* … and here its results are passed on as that leaf's; or 0 */
} oc_server_member_t;

typedef struct oc_command {
    oc_command_type_t type;
    uint32_t client, handle, token;
    uint64_t eager_window;
    oc_server_member_t member;
    int fd;
    oc_status_t status;
    char text[256];
    struct oc_command *prev, *next;
    size_t length;
    uint8_t data[];
} oc_command_t;

typedef struct {
    pthread_mutex_t lock;
    oc_command_t *list;
    int event_fd;            /* readable while there may be commands */
    atomic_bool has_mail;    /* the same, for a thread that looks often */
} oc_mailbox_t;

/* Before any other thread knows the box. On failure there is nothing to close. */
oc_status_t oc_mailbox_open(oc_mailbox_t *box);

/*
 * After the last thread that posts. Frees what nobody took, and closes descriptors that came with
 * it. Legal on a box of all zeros with event_fd -1.
 */
void oc_mailbox_close(oc_mailbox_t *box);

/* A command with room for data, all else zero; NULL without memory. Freed by whoever takes it. */
oc_command_t *oc_command_new(oc_command_type_t type, const void *data, size_t length);

/* Any thread. Takes the command over. Waits for the lock only, which nobody holds for long. */
void oc_mailbox_post(oc_mailbox_t *box, oc_command_t *command);

/*
 * Any thread, lock-free: whether there may be commands. A command that another thread is posting may
 * be missed; event_fd is readable as soon as it is there.
 */
bool oc_mailbox_has_mail(const oc_mailbox_t *box);

/*
 * By the thread that sleeps on event_fd: the oldest command, which is the caller's to be freed, or
 * NULL when there is none, in which case event_fd has been reset. Waits for the lock only.
 */
oc_command_t *oc_mailbox_take(oc_mailbox_t *box);

#endif
