/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The last rank needs long to reach the server, so the others are ready before it and wait for it
 * inside the first Allreduce.
 *
 * usage: slow_setup PORT SECONDS
 * Connecting to that port takes the last rank so long. Rank 0 prints "waiting" before it waits.
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "check.h"
#include "pvars.h"

static unsigned slow_port, delay;

/* Instead of libc's, also for libraries. */
int connect(int fd, const struct sockaddr *address, socklen_t length)
{
    const struct sockaddr_in *ipv4 = (const struct sockaddr_in *) address;

    if (AF_INET == address->sa_family && slow_port == ntohs(ipv4->sin_port)) {
        slow_port = 0;
        sleep(delay);
    }
    return (int) syscall(SYS_connect, fd, address, length);
}

int main(int argc, char **argv)
{
    int32_t sum = 0, one = 1;
    int rank, size, status;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (argc > 2 && size - 1 == rank) {
        slow_port = (unsigned) atoi(argv[1]);
        delay = (unsigned) atoi(argv[2]);
    }
    sync_all(MPI_COMM_WORLD);
    if (0 == rank) {
        printf("waiting\n");
        fflush(stdout);
    }
    MPI_Allreduce(&one, &sum, 1, MPI_INT32_T, MPI_SUM, MPI_COMM_WORLD);
    if (sum != size) {
        wrong("the sum is %d instead of %d", sum, size);
    }
    if (1 != pvar_read("allreduce_offloaded")) {
        wrong("%llu of 1 operation was offloaded", pvar_read("allreduce_offloaded"));
    }
    pvars_end();
    status = conclude("slow_setup");
    MPI_Finalize();
    return status;
}
