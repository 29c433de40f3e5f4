/* SPDX-License-Identifier: BSD-3-Clause */
/* Keeping the UCX settings of the rest of the process out of ours. */
#ifndef OC_UCX_BACKEND_ENVIRONMENT_H
#define OC_UCX_BACKEND_ENVIRONMENT_H

/*
 * UCX takes UCX_X for a default of OPTCAST_UCX_X. Between begin and end the process's
 * environment has no UCX_*, so that settings meant for the MPI library do not reach our workers.
 * The variables come back at the end; one that another thread sets meanwhile is lost. Settings
 * of the whole UCX library, such as UCX_LOG_LEVEL, were read when it was loaded and still hold.
 */
void oc_environment_begin(void);
void oc_environment_end(void);

#endif
