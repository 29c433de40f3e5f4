/* SPDX-License-Identifier: BSD-3-Clause */
/* What is wrong with a network that tests multicast on, and the text that says so. */
#ifndef OC_TESTS_FAULTS_CAST_FAULTS_H
#define OC_TESTS_FAULTS_CAST_FAULTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

/* Shares are from 0 to 1. All zero: nothing happens. */
typedef struct {
    double drop;        /* share of the arriving datagrams that is lost, on each receiver others */
    double drop_sent;   /* share of the sent ones that reaches nobody */
    double duplicate;   /* share that arrives twice */
    double reorder;     /* share that some of the next datagrams overtake */
    double delay;       /* share that arrives late, by up to delay_ms */
    unsigned burst;     /* so many are lost in a row; 0 is 1. The shares stay what they are */
    unsigned cut;       /* after so many that arrive no other one does; 0: never */
    unsigned delay_ms;  /* 0 is OC_FAULTS_DELAY_MS */
    uint64_t seed;
} oc_faults_t;

#define OC_FAULTS_DELAY_MS     10u
#define OC_FAULTS_MAX_DELAY_MS 3600000u
#define OC_FAULTS_MAX_BURST    1000000u
#define OC_FAULTS_MAX_CUT      1000000u

/*
 * Reads "drop=0.01,burst=100,seed=7": the names are those of oc_faults_t, each is optional, and of
 * equal ones the last counts. Empty: no faults. On OC_ERR_INVALID error names what is wrong.
 */
oc_status_t oc_faults_parse(const char *text, oc_faults_t *faults, char *error,
                            size_t error_size);

/* Whether the network gets worse at all. */
bool oc_faults_any(const oc_faults_t *faults);

#endif
