/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Who may connect to listening sockets of somebody else: the kernel drops what comes from hosts
 * that were not admitted, by a filter at the sockets. Nobody is at first. It never gets fewer
 * hosts.
 *
 * Of one thread at a time.
 */
#ifndef OC_NET_ADMISSION_H
#define OC_NET_ADMISSION_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>

typedef struct oc_admission oc_admission_t;

/* NULL: no memory. */
oc_admission_t *oc_admission_open(void);

/* Sockets that are left keep their filters. NULL is allowed. */
void oc_admission_close(oc_admission_t *admission);

/*
 * Guards a listening socket of TCP. Where the kernel refuses its first filter, it stays open to
 * all, which the log says once and oc_admission_open_sockets counts. Where there is no memory for a
 * filter, the last one stays, and who is new is shut out until there is: the log says that, too.
 */
void oc_admission_guard(oc_admission_t *admission, int fd);

/* The same for sockets that cannot be found, for this reason. */
void oc_admission_miss(oc_admission_t *admission, const char *reason);

/* Before it is closed. */
void oc_admission_release(oc_admission_t *admission, int fd);

/*
 * Before they connect. IPv4 is in its IPv6-mapped form. An address of this host admits all of them,
 * with loopback.
 */
void oc_admission_admit(oc_admission_t *admission, const struct in6_addr *addresses,
                        size_t count);

/* The host at the other end of a connected socket. */
void oc_admission_admit_peer(oc_admission_t *admission, int fd);

/*
 * The same in two steps, for many: a filter for thousands of hosts takes milliseconds. They are
 * admitted by oc_admission_renew. Whether there is anything for that to do.
 */
bool oc_admission_note(oc_admission_t *admission, const struct in6_addr *addresses, size_t count);
bool oc_admission_note_peer(oc_admission_t *admission, int fd);
void oc_admission_renew(oc_admission_t *admission);

/*
 * Whether all who were admitted, or noted, can connect. false: there was no memory for one of them
 * or for a filter, or the kernel no longer takes one; the log has said so.
 */
bool oc_admission_is_complete(const oc_admission_t *admission);

/* How many addresses, or networks that stand for several, are admitted or noted: at most 65,536. */
size_t oc_admission_count(const oc_admission_t *admission);

/* Sockets that were to be guarded, and are not: none becomes one later than when it was to be. */
unsigned oc_admission_open_sockets(const oc_admission_t *admission);

/*
 * Whether this process may put filters on sockets of TCP: 0, or an errno. For messages:
 * oc_admission_hint says what to do about it.
 */
int oc_admission_try(void);
const char *oc_admission_hint(int error);

#endif
