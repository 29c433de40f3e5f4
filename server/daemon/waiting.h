/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Clients of jobs for which there is no place yet, but will be soon: another job that nobody has
 * joined has been told to retire. They wait for a few seconds, in order.
 */
#ifndef OC_SERVER_DAEMON_WAITING_H
#define OC_SERVER_DAEMON_WAITING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "protocol/control.h"

/* Zeros at first. */
typedef struct {
    struct oc_waiting_client *clients;
    unsigned count;
} oc_waiting_t;

/* Jobs that wait, with that one. */
unsigned oc_waiting_jobs(const oc_waiting_t *waiting, const uint8_t *job_id);

/* Takes fd over, if true: its HELLO is in bytes. false: there are too many. */
bool oc_waiting_add(oc_waiting_t *waiting, int fd, const oc_hello_t *hello, const uint8_t *bytes,
                    size_t length);

/* To be called when a place is free: admit takes fd over, or not, in which case it waits on. */
void oc_waiting_serve(oc_waiting_t *waiting,
                      bool (*admit)(void *arg, int fd, const oc_hello_t *hello,
                                    const uint8_t *bytes, size_t length),
                      void *arg);

/* Refuses those who have waited long enough; all of them: everybody. */
void oc_waiting_refuse(oc_waiting_t *waiting, bool all, const char *reason);

#endif
