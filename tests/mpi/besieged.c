/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A job whose embedded server is besieged by strangers while other ranks need it for the first
 * time: they get in, and the process has descriptors left for itself.
 *
 * usage: besieged FILE
 * Rank 0 prints "at PID" when its server is there, and all go on when FILE exists.
 */
#include <fcntl.h>
#include <unistd.h>

#include "check.h"
#include "pvars.h"

#define COUNT 5000
#define FILES 500

static void sum_on(MPI_Comm comm, const char *where)
{
    static int send[COUNT], recv[COUNT];
    int rank, size;

    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    for (int i = 0; i < COUNT; i++) {
        send[i] = i * (rank + 1);
    }
    MPI_Allreduce(send, recv, COUNT, MPI_INT, MPI_SUM, comm);
    for (int i = 0; i < COUNT; i++) {
        if (recv[i] != i * (size * (size + 1) / 2)) {
            wrong("%s: element %d is %d", where, i, recv[i]);
        }
    }
}

static void use_files(void)
{
    static int files[FILES];

    for (int i = 0; i < FILES; i++) {
        files[i] = open("/dev/null", O_RDONLY);
        if (files[i] < 0) {
            wrong("only %d files can be opened", i);
            break;
        }
    }
    for (int i = 0; i < FILES && files[i] >= 0; i++) {
        close(files[i]);
    }
}

int main(int argc, char **argv)
{
    MPI_Comm pair;
    int rank, status;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_split(MPI_COMM_WORLD, rank / 2, rank, &pair);
    sum_on(pair, "pairs");
    if (0 == rank) {
        printf("at %d\n", (int) getpid());
        fflush(stdout);
    }
    while (argc > 1 && 0 != access(argv[1], F_OK)) {
        usleep(10000);
    }
    use_files();
    for (int i = 0; i < 3; i++) {
        sum_on(MPI_COMM_WORLD, "all");
    }
    if (4 != pvar_read("allreduce_offloaded")) {
        wrong("%llu of 4 operations were offloaded", pvar_read("allreduce_offloaded"));
    }
    pvars_end();
    MPI_Comm_free(&pair);
    status = conclude("besieged");
    MPI_Finalize();
    return status;
}
