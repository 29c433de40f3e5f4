/* SPDX-License-Identifier: BSD-3-Clause */
/* The settings that a job started here would have, and where each comes from. */
#ifndef OC_TOOLS_INFO_VALUES_H
#define OC_TOOLS_INFO_VALUES_H

/* From what "ompi_info --parsable --param coll optcast --level 9" has printed. */
void oc_info_values(const char *output);

#endif
