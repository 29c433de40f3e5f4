/* SPDX-License-Identifier: BSD-3-Clause */
/* The settings of a job, from the environment: OPTCAST_MODE for mode, and so on. */
#ifndef OC_MPICH_SETTINGS_H
#define OC_MPICH_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/settings.h"

#define OC_MPICH_PREFIX "OPTCAST_"

/*
 * Sets all of them: defaults, or what the environment says. Texts belong to the environment, as it is now.
 * false: one of them is wrong, and error says which, why, and what is needed.
 */
bool oc_mpich_settings_read(oc_job_settings_t *settings, char *error, size_t error_size);

/*
 * Copies a text of the engine or of a server, which know settings by their names in Open MPI, with the names that
 * they have here. It is cut where size is not enough.
 */
void oc_mpich_settings_rename(const char *text, char *copy, size_t size);

#endif
