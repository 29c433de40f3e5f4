/* SPDX-License-Identifier: BSD-3-Clause */
/* What a thread of another process has used: time of a processor, and instructions. */
#ifndef OC_BENCH_SCALE_USAGE_H
#define OC_BENCH_SCALE_USAGE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

typedef struct {
    double seconds;        /* of a processor */
    double user;           /* share of them that was not the kernel's, 0 to 1 */
    double instructions;   /* not the kernel's; 0: nobody counts them here */
} oc_usage_t;

typedef struct {
    pid_t process, thread;
    int counter;           /* -1: none */
    double seconds, user, system;
} oc_meter_t;

/* Of the thread of that name; false: there is none, or it may not be looked at. */
bool oc_meter_open(oc_meter_t *meter, pid_t process, const char *thread);

/* From here on … */
bool oc_meter_start(oc_meter_t *meter);

/* … to here. Times of user and kernel are exact to a tick, 10 ms; the sum is exact. */
bool oc_meter_stop(oc_meter_t *meter, oc_usage_t *usage);

void oc_meter_close(oc_meter_t *meter);

#endif
