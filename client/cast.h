/* SPDX-License-Identifier: BSD-3-Clause */
/* Groups of multicast, and Allgather and Bcast on them. Under the lock of the client. */
#ifndef OC_CLIENT_CAST_H
#define OC_CLIENT_CAST_H

#include "client/types.h"

oc_status_t oc_group_cast_record(oc_group_t *group, char *error, size_t error_size);
/* When all records are there; as oc_multicast_admit. */
bool oc_group_cast_admit(oc_group_t *group);
/* As oc_multicast_join. */
oc_status_t oc_group_cast_join(oc_group_t *group, uint32_t *blamed, char *error,
                               size_t error_size);
void oc_group_cast_leave(oc_group_t *group);
/* Ends its group of multicast, if it has one, for all ranks. */
void oc_group_cast_fail(oc_group_t *group, oc_status_t status, const char *reason);
void oc_client_cast_progress(oc_client_t *client);
/* As oc_multicast_sleep. */
int oc_client_cast_sleep(oc_client_t *client, struct pollfd *fds, uint64_t *timeout);
void oc_cast_begin(oc_collective_t *collective);
void oc_cast_free(oc_collective_t *collective);
oc_status_t oc_cast_end(oc_collective_t *collective, oc_status_t status);

#endif
