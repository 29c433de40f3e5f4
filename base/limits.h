/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Numbers that both ends of the wire hold each other to; doc/protocol.md explains them. A group is
 * one as servers know it: each team of a communicator is one, and has these limits by itself.
 */
#ifndef OC_BASE_LIMITS_H
#define OC_BASE_LIMITS_H

/* Versions of the protocol that this code speaks. */
#define OC_PROTOCOL_VERSION_MIN 11
#define OC_PROTOCOL_VERSION_MAX 11

#define OC_DEFAULT_PORT 8918

#define OC_MAX_RANKS       65536      /* 16 bits of a tag */
#define OC_MAX_AGGREGATORS 64         /* of one server */
#define OC_MAX_GROUP_AGGREGATORS 4096 /* of all servers of a group */
#define OC_MAX_LEAVES      256        /* of a tree of servers */
#define OC_MAX_LANES       65536      /* of all teams of a group; 16 bits of a tag */
#define OC_MAX_GROUPS      (1 << 16)  /* of one job on one server, see base/handles.h */
#define OC_MAX_IN_FLIGHT   256        /* collectives of one group */
#define OC_MAX_SPAN        2048       /* from the oldest of them to the next; see tags */
#define OC_MAX_SEQUENCE    (1ull << 44) /* of collectives of a group, in all its life */
#define OC_MAX_WINDOW      64         /* chunks in flight from a rank to an aggregator */

#define OC_MIN_CHUNK       4096u      /* bytes */
#define OC_FINE_CHUNK      16384u     /* none is made smaller to have more of them */
#define OC_MAX_CHUNK       (16u << 20)
#define OC_MAX_SMALL       16384u     /* bytes of data in a message with header */

/*
 * Defaults of settings that servers rely on, too. Bytes of large vectors that go over TCP without
 * being announced, from a rank or a leaf: more than one link has under way, and little enough for
 * the receiver's memory, where nobody counts it. Seconds that a client waits for a server: what a
 * server has to say to those in its line, it says earlier.
 */
#define OC_EAGER_WINDOW    524288u
#define OC_CONNECT_SECONDS 5

#define OC_MAX_ADDRESS     16384      /* bytes of a UCX worker address */
#define OC_MAX_ORIGINS     16         /* addresses of a host, in HELLO and WELCOME */
#define OC_MAX_LOST        256        /* servers that a job can lose, and that can return to it */
#define OC_MAX_TEXT        512        /* bytes of a text for people, without the final zero */
#define OC_MAX_BODY        (OC_MAX_AGGREGATORS * OC_MAX_ADDRESS + 4096)
#define OC_MAX_HELLO_BODY  (OC_MAX_ADDRESS + 1024)  /* all that a stranger may send */

/* In place of a process in HELLO: a server that is a leaf of a tree. */
#define OC_PROCESS_LEAF    0xffffffffu

#define OC_JOB_ID_SIZE     16
#define OC_JOB_KEY_SIZE    32

#endif
