/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Info keys of communicators: one that all ranks give, one that has no such value, and one that
 * only rank 0 gives, which makes all of them do without the service.
 *
 * usage: hints
 */
#include "check.h"
#include "counters.h"
#include "to_owners.h"

#define KEY "optcast_reduce_scatter_beside"

/* value NULL: without the key */
static MPI_Comm make(const char *name, const char *value)
{
    MPI_Comm comm;
    MPI_Info info;

    MPI_Info_create(&info);
    if (NULL != value) {
        MPI_Info_set(info, KEY, value);
    }
    MPI_Comm_dup_with_info(MPI_COMM_WORLD, info, &comm);
    MPI_Comm_set_name(comm, name);
    MPI_Info_free(&info);
    return comm;
}

/* Two reductions on it: whether they are offloaded, or fall back for want of a service. */
static void run(const char *name, const char *value, bool offloaded)
{
    counters_t before = counters_read();
    unsigned long long reduces = pvar_read("reduce_offloaded");
    MPI_Comm comm = make(name, value);

    reduce_to_owners(comm, MPI_SUM, 1, 1000);
    if (pvar_read("reduce_offloaded") - reduces != offloaded) {
        wrong("%s: %llu Reduces are offloaded", name, pvar_read("reduce_offloaded") - reduces);
    }
    counters_moved(name, &before, (counters_t) {.fallbacks_order = ANY, .groups = offloaded,
                                                .fallbacks_setup = offloaded ? 0 : 2});
    MPI_Comm_free(&comm);
}

int main(int argc, char **argv)
{
    int rank, status;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    run("without", NULL, true);
    run("allgather", "allgather", true);
    run("nothing", "nothing", true);
    run("other", "bcast", true);
    run("unequal", 0 == rank ? "allgather" : NULL, false);
    status = conclude("hints");
    pvars_end();
    MPI_Finalize();
    return status;
}
