/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Descriptors that belong to this process only. A program may fork a child and leave it alone: as
 * long as the child had our sockets too, nobody would see that its parent has died. The flag for
 * exec does not help with a child that calls none, so it closes them itself, at once. It never
 * shuts a connection down, which would be the parent's, too.
 */
#ifndef OC_BASE_DESCRIPTORS_H
#define OC_BASE_DESCRIPTORS_H

/* From now on, in this process, also for what was made before. Once is enough. */
void oc_fd_guard(void);

/*
 * oc_fd_make(socket(...)) is what the call gives, -1 and errno included. The descriptor has to be
 * closed by oc_fd_close, or a child might close another one that has its number. No fork falls in
 * between, so the call must not block.
 */
#define oc_fd_make(call) (oc_fd_hold(), oc_fd_keep(call))

/* Parts of oc_fd_make. */
void oc_fd_hold(void);
int oc_fd_keep(int fd);

/* Closes any descriptor; errno stays. */
void oc_fd_close(int fd);

#endif
