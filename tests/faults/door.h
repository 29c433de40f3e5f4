/* SPDX-License-Identifier: BSD-3-Clause */
/* Puts faults between the product's transports of multicast and their users. */
#ifndef OC_TESTS_FAULTS_DOOR_H
#define OC_TESTS_FAULTS_DOOR_H

/*
 * From now on, each transport that this process opens has these faults (see oc_faults_parse), and
 * none if text is empty. A text that makes no sense ends the process with a sentence on standard
 * error. Call it before other threads open transports; children that are forked later inherit it.
 */
void faults_install(const char *text);

#endif
