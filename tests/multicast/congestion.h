/* SPDX-License-Identifier: BSD-3-Clause */
/* The congestion window of a TCP connection in one direction: slow start, then CUBIC (RFC 9438). */
#ifndef OC_TESTS_MULTICAST_CONGESTION_H
#define OC_TESTS_MULTICAST_CONGESTION_H

#include <stddef.h>
#include <stdint.h>

/* Sizes in segments. */
typedef struct {
    double window, limit;        /* what may be under way; its upper bound */
    double threshold;            /* slow start ends there */
    double most;                 /* the window at the last loss */
    double friendly;             /* what a connection without CUBIC would have */
    double plateau;              /* seconds from the last loss until CUBIC has it again */
    uint64_t epoch;              /* ns: when the window was last reduced; 0: never */
} congestion_t;

void congestion_init(congestion_t *congestion, double limit);

/* So much was acknowledged while the window was in use. now and rtt in ns. */
void congestion_acked(congestion_t *congestion, double segments, uint64_t now, uint64_t rtt);

/* Something was lost; to be called once in a round trip. */
void congestion_lost(congestion_t *congestion, uint64_t now);

/* Nothing came back for too long. */
void congestion_timeout(congestion_t *congestion, uint64_t now);

#endif
