/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A program that forks children between its collectives, and after the component was unloaded: they
 * have nothing of the service, and nothing of it runs in them.
 */
/* Test: default 120 -- 2 embedded + 3 server reproducible=shape */
#include <dirent.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"
#include "pvars.h"

#define COUNT  30000
#define ROUNDS 5

static void sum(int round)
{
    static int send[COUNT], recv[COUNT];
    MPI_Request request;
    int rank, size;

    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 0; i < COUNT; i++) {
        send[i] = (i + round) * (rank + 1);
    }
    if (round % 2) {
        MPI_Allreduce(send, recv, COUNT, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    } else {
        /* with the thread that moves it on */
        MPI_Iallreduce(send, recv, COUNT, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
        usleep(10000);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    for (int i = 0; i < COUNT; i++) {
        if (recv[i] != (i + round) * (size * (size + 1) / 2)) {
            wrong("round %d: element %d is %d", round, i, recv[i]);
        }
    }
}

/* Whose timer it is: no other library of the process has one. */
static int has_our_timer(void)
{
    char target[64], path[288];
    struct dirent *entry;
    DIR *folder = opendir("/proc/self/fd");
    int count = 0;

    while (NULL != folder && NULL != (entry = readdir(folder))) {
        ssize_t length;

        snprintf(path, sizeof(path), "/proc/self/fd/%s", entry->d_name);
        length = readlink(path, target, sizeof(target) - 1);
        target[length < 0 ? 0 : length] = '\0';
        count += NULL != strstr(target, "timerfd");
    }
    if (NULL != folder) {
        closedir(folder);
    }
    return count > 0;
}

/* 0: it ran, and had no timer. */
static int child(void)
{
    int status = -1;
    pid_t pid = fork();

    if (0 == pid) {
        _exit(has_our_timer());
    }
    return pid == waitpid(pid, &status, 0) ? status : -1;
}

int main(int argc, char **argv)
{
    int status, after;

    MPI_Init(&argc, &argv);
    for (int i = 0; i < ROUNDS; i++) {
        sum(i);
        if (!has_our_timer()) {
            wrong("this process has no timer, so that its children prove nothing");
        }
        after = child();
        if (0 != after) {
            wrong("a child ended with status 0x%x", (unsigned) after);
        }
    }
    if (ROUNDS != pvar_read("allreduce_offloaded")) {
        wrong("%llu of %d operations were offloaded", pvar_read("allreduce_offloaded"), ROUNDS);
    }
    pvars_end();
    status = conclude("forks");
    MPI_Finalize();
    after = child();
    if (0 != after) {
        printf("not ok: a child after MPI_Finalize ended with status 0x%x\n", (unsigned) after);
        status = EXIT_FAILURE;
    }
    return status;
}
