/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A process's part in one multicast group: it joins, notices when the membership is lost, joins
 * again, and knows how datagrams reach the group. Nothing here waits. For verbs.c only.
 */
#ifndef OC_MULTICAST_TRANSPORT_VERBS_GROUP_H
#define OC_MULTICAST_TRANSPORT_VERBS_GROUP_H

#include "multicast/transport/verbs_intake.h"
#include "multicast/transport/verbs_membership.h"
#include "multicast/transport/verbs_port.h"
#include "multicast/transport/verbs_source.h"

/* A way to the group that was used before, and by which something may still be sent. */
typedef struct oc_verbs_former {
    struct ibv_ah *handle;
    uint32_t end;                  /* until the source has sent all up to this */
    struct oc_verbs_former *next;
} oc_verbs_former_t;

typedef struct {
    oc_verbs_source_t *source;
    oc_verbs_intake_t *intake;     /* whose queue pair is attached to the group */
    oc_verbs_port_t port;
    struct in_addr address;
    oc_verbs_membership_t membership;
    oc_verbs_watcher_t watcher;
    oc_verbs_destination_t to;     /* its handle is NULL before the group was joined */
    struct ibv_ah_attr attributes; /* of that handle */
    oc_verbs_former_t *former;
    bool broken;                   /* the queue pair has failed */
    bool warned;                   /* of a loss that is not over */
    char refusal[256];             /* why the group could not be joined at all */
    unsigned long long *renewed;   /* counts memberships that were joined again */
} oc_verbs_group_t;

/* Asks to join. Port, source, intake, address and renewed are set. */
oc_status_t oc_verbs_group_join(oc_verbs_group_t *group, char *error, size_t error_size);

/* Before the queue pair is destroyed. Nothing happens if it was never asked for. */
void oc_verbs_group_leave(oc_verbs_group_t *group);

/* Receiving has failed: the queue pair is mended, and the group joined again. */
void oc_verbs_group_break(oc_verbs_group_t *group, const char *what, const char *reason);

/* The device is of no use any more. */
void oc_verbs_group_end(oc_verbs_group_t *group, const char *reason);

#endif
