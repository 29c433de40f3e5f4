/* SPDX-License-Identifier: BSD-3-Clause */
/* A library that guards descriptors and is unloaded again, as a component of an MPI library is. */
#include <sys/eventfd.h>

#include "base/descriptors.h"

int __attribute__((visibility("default"))) guest_enter(void);
void __attribute__((visibility("default"))) guest_leave(int fd);

int guest_enter(void)
{
    oc_fd_guard();
    return oc_fd_make(eventfd(0, 0));
}

void guest_leave(int fd)
{
    oc_fd_close(fd);
}
