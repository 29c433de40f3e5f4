/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fork and exec of the program's own file. Nothing about a job is in arguments or environment,
 * which others can read: all that comes through the channel.
 */
#include "server/daemon/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "server/daemon/job_cgroup.h"

/* No setting: nobody but this program starts itself in this way. */
#define MODE "--data-process"

extern char **environ;

bool oc_spawn_open(oc_spawn_t *spawn)
{
    char path[4096];
    ssize_t length = readlink("/proc/self/exe", path, sizeof(path) - 1);

    path[length < 0 ? 0 : length] = '\0';
    spawn->program = open(path, O_RDONLY | O_CLOEXEC);
    if (spawn->program < 0) {
        /* its name is another one's already */
        spawn->program = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    }
    return spawn->program >= 0;
}

void oc_spawn_close(oc_spawn_t *spawn)
{
    if (spawn->program >= 0) {
        close(spawn->program);
    }
    spawn->program = -1;
}

/* Also those that whoever started the server has left open; before Linux 5.9, these stay. */
static void keep_channel(int channel, int program)
{
    if (channel == OC_SPAWN_CHANNEL) {
        (void) fcntl(channel, F_SETFD, 0);
    } else {
        (void) dup2(channel, OC_SPAWN_CHANNEL);
    }
#ifdef SYS_close_range
    if (program > OC_SPAWN_CHANNEL + 1) {
        (void) syscall(SYS_close_range, OC_SPAWN_CHANNEL + 1, program - 1, 0);
    }
    (void) syscall(SYS_close_range, program + 1, ~0u, 0);
#endif
}

/* Only what is safe after a fork. */
static void __attribute__((noreturn))
spawn_become(const oc_spawn_t *spawn, int channel, int processes, pid_t parent)
{
    static char name[] = "optcast-server", mode[] = MODE;
    char *const arguments[] = {name, mode, NULL};
    int program = spawn->program;
    sigset_t none;

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) {
        _exit(EXIT_FAILURE);
    }
    oc_job_cgroup_enter(processes);
    /* a terminal's interrupt goes to the supervisor, which decides */
    signal(SIGINT, SIG_IGN);
    signal(SIGTERM, SIG_IGN);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    if (OC_SPAWN_CHANNEL == program) {
        program = fcntl(program, F_DUPFD_CLOEXEC, OC_SPAWN_CHANNEL + 1);
    }
    keep_channel(channel, program);
    fexecve(program, arguments, environ);
    _exit(EXIT_FAILURE);
}

pid_t oc_spawn(const oc_spawn_t *spawn, int channel, int processes)
{
    pid_t parent = getpid(), pid = fork();

    if (0 == pid) {
        spawn_become(spawn, channel, processes, parent);
    }
    return pid;
}

bool oc_is_spawned(int argc, char *const *argv)
{
    return 2 == argc && 0 == strcmp(argv[1], MODE);
}

bool oc_spawned_prepare(void)
{
    socklen_t length = sizeof(int);
    int type = 0;

    if (0 != getsockopt(OC_SPAWN_CHANNEL, SOL_SOCKET, SO_TYPE, &type, &length)
        || SOCK_SEQPACKET != type) {
        return false;
    }
    (void) fcntl(OC_SPAWN_CHANNEL, F_SETFD, FD_CLOEXEC);
    /*
     * exec takes it back from programs with privileges; who is gone by now has closed the channel
     */
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    prctl(PR_SET_NAME, "optcast-job");
    return true;
}
