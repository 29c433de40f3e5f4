/* SPDX-License-Identifier: BSD-3-Clause */
/* The set-up and the end of groups that multicast serves. Callers hold the lock of the client. */
#ifndef OC_CLIENT_GROUP_CAST_GROUP_H
#define OC_CLIENT_GROUP_CAST_GROUP_H

#include "client/state/types.h"

extern const oc_service_ops_t oc_service_multicast;

/* Bytes of a rank's record, for whatever serves a group. */
size_t oc_record_size(oc_service_t service);
/* Makes this rank's record and contact. On an error one sentence, and a record that says so. */
oc_status_t oc_group_cast_record(oc_group_t *group, char *error, size_t error_size);
/* When all records are there: as oc_multicast_judge, and sets the terms. */
oc_status_t oc_group_cast_judge(oc_group_t *group, uint32_t *blamed, char *error,
                                size_t error_size);
/*
 * When it is known which ranks share memory: who is in multicast, and who this rank's neighbours
 * there are. false: no memory.
 */
bool oc_group_cast_meet(oc_group_t *group);
/* With their contacts: as oc_multicast_admit. */
bool oc_group_cast_admit(oc_group_t *group);
/* As oc_multicast_reserve; its set-up keeps the address until oc_group_cast_join or … */
bool oc_group_cast_reserve(oc_group_t *group);
/* … this. */
void oc_group_cast_release(oc_group_t *group);
/*
 * As oc_multicast_join, with the address that is kept, or the job's common one. A rank for which
 * another one of its host multicasts has nothing to join.
 */
oc_status_t oc_group_cast_join(oc_group_t *group, char *error, size_t error_size);
/* As oc_cast_group_ready. */
oc_status_t oc_group_cast_ready(const oc_group_t *group);
/* As the functions of oc_multicast_ with these names. */
bool oc_group_cast_flood_is_sent(oc_group_t *group);
oc_flood_verdict_t oc_group_cast_flood_end(oc_group_t *group, char *text, size_t text_size);
void oc_group_cast_flood_note(oc_group_t *group, oc_flood_verdict_t verdict);
/* Ends its group of multicast, if it has one, for all ranks. */
void oc_group_cast_fail(oc_group_t *group, oc_status_t status, const char *reason);
/* Something was posted, or has left: whether multicast needs progress. */
void oc_client_cast_account(oc_client_t *client);

#endif
