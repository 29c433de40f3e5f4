/* SPDX-License-Identifier: BSD-3-Clause */
/* optcast-info --servers. */
#ifndef OC_TOOLS_INFO_SERVERS_H
#define OC_TOOLS_INFO_SERVERS_H

#include <stdbool.h>

/*
 * Asks each server of a list, as coll_optcast_servers has it, whether it would serve, and measures
 * round trips; says so on stdout. True if all would. May take some seconds for each that is silent.
 */
bool oc_info_servers(const char *list);

#endif
