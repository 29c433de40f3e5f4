/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * coll_optcast_mode while the program runs: each communicator keeps the one that it was made in.
 * The argument is the mode that the job begins with; never: nothing may be offloaded later.
 */
/* Test: quick 60 -- 4 embedded offload=64K- always + 4 embedded mode=auto offload=64K- auto + 4 embedded mode=never offload=64K- never */
#include <stdbool.h>
#include <string.h>

#include "check.h"
#include "pvars.h"

#define SMALL 100
#define LARGE 50000 /* elements: more than 64 KiB */

static int rank, size;
static MPI_T_cvar_handle mode;
static MPI_T_enum mode_names;

static void find_mode(void)
{
    int index, level, provided, count = 0, verbosity, binding, scope, length = 0;
    MPI_Datatype type;

    MPI_Query_thread(&level);
    MPI_T_init_thread(level, &provided);
    if (MPI_SUCCESS != MPI_T_cvar_get_index("coll_optcast_mode", &index)
        || MPI_SUCCESS != MPI_T_cvar_get_info(index, NULL, &length, &verbosity, &type, &mode_names,
                                              NULL, NULL, &binding, &scope)
        || MPI_SUCCESS != MPI_T_cvar_handle_alloc(index, NULL, &mode, &count) || 1 != count
        || MPI_T_SCOPE_ALL_EQ != scope) {
        wrong("coll_optcast_mode is no variable that all ranks can set");
    }
}

static void set_mode(const char *wanted)
{
    int items = 0, value, length = 64;
    char name[64];

    MPI_T_enum_get_info(mode_names, &items, name, &length);
    for (int i = 0; i < items; i++) {
        length = sizeof(name);
        MPI_T_enum_get_item(mode_names, i, &value, name, &length);
        if (0 == strcmp(name, wanted)) {
            if (MPI_SUCCESS != MPI_T_cvar_write(mode, &value)) {
                wrong("the mode cannot be set to %s", wanted);
            }
            return;
        }
    }
    wrong("there is no mode %s", wanted);
}

static MPI_Comm make(const char *wanted)
{
    MPI_Comm comm;

    set_mode(wanted);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    return comm;
}

/* One Allreduce, blocking or not, of which so many have to be offloaded and to fall back. */
static void reduce(const char *what, MPI_Comm comm, int count, bool nonblocking,
                   unsigned long long offloaded, unsigned long long fallbacks)
{
    unsigned long long offloaded_before = pvar_read("allreduce_offloaded");
    unsigned long long fallbacks_before = pvar_read("fallbacks");
    int *data = must(malloc((size_t) count * sizeof(*data)));
    MPI_Request request;

    for (int i = 0; i < count; i++) {
        data[i] = rank + i;
    }
    if (nonblocking) {
        MPI_Iallreduce(MPI_IN_PLACE, data, count, MPI_INT, MPI_SUM, comm, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    } else {
        MPI_Allreduce(MPI_IN_PLACE, data, count, MPI_INT, MPI_SUM, comm);
    }
    for (int i = 0; i < count; i++) {
        if (size * (size - 1) / 2 + size * i != data[i]) {
            wrong("%s: element %d is %d", what, i, data[i]);
            break;
        }
    }
    offloaded_before = pvar_read("allreduce_offloaded") - offloaded_before;
    fallbacks_before = pvar_read("fallbacks") - fallbacks_before;
    if (offloaded != offloaded_before || fallbacks != fallbacks_before) {
        wrong("%s: %llu offloaded and %llu fallbacks instead of %llu and %llu", what,
              offloaded_before, fallbacks_before, offloaded, fallbacks);
    }
    free(data);
}

/* In any order of making, changing and using. */
static void change(void)
{
    MPI_Comm never = make("never"), automatic = make("auto"), always = make("always"), late;

    reduce("never", never, LARGE, false, 0, 0);
    reduce("auto, small", automatic, SMALL, false, 0, 1);
    reduce("always, small", always, SMALL, false, 1, 0);
    set_mode("never");
    reduce("always, while it is never", always, SMALL, true, 1, 0);
    reduce("auto, large, while it is never", automatic, LARGE, false, 1, 0);
    MPI_Comm_dup(always, &late);
    reduce("a copy, while it is never", late, LARGE, true, 0, 0);
    set_mode("always");
    reduce("the copy, while it is always", late, LARGE, false, 0, 0);
    reduce("auto, small, while it is always", automatic, SMALL, true, 0, 1);
    reduce("world", MPI_COMM_WORLD, LARGE, false, 1, 0);
    MPI_Comm_free(&late);
    MPI_Comm_free(&always);
    MPI_Comm_free(&automatic);
    MPI_Comm_free(&never);
}

/* Against the rules: all ranks find out. (Not if it is never on some: those do not take part.) */
static void differ(void)
{
    MPI_Comm comm = make(1 == rank ? "auto" : "always");

    set_mode("always");
    reduce("made in different modes", comm, LARGE, false, 0, 1);
    reduce("made in different modes", comm, LARGE, true, 0, 1);
    MPI_Comm_free(&comm);
}

static void begin_with_never(void)
{
    MPI_Comm always = make("always");

    reduce("always after never", always, LARGE, false, 0, 0);
    reduce("always after never", always, SMALL, true, 0, 0);
    reduce("world", MPI_COMM_WORLD, LARGE, false, 0, 0);
    MPI_Comm_free(&always);
}

/* What is no mode, and what may not be changed, stays as it was. */
static void refuse(void)
{
    int before = -1, after = -1, nonsense = 7, index, count, window = 1;
    MPI_T_cvar_handle handle;

    MPI_T_cvar_read(mode, &before);
    if (MPI_SUCCESS == MPI_T_cvar_write(mode, &nonsense)) {
        wrong("mode 7 is accepted");
    }
    MPI_T_cvar_read(mode, &after);
    if (before != after) {
        wrong("mode %d became %d", before, after);
    }
    if (MPI_SUCCESS == MPI_T_cvar_get_index("coll_optcast_window", &index)
        && MPI_SUCCESS == MPI_T_cvar_handle_alloc(index, NULL, &handle, &count)
        && MPI_SUCCESS == MPI_T_cvar_write(handle, &window)) {
        wrong("coll_optcast_window can be changed");
    }
}

int main(int argc, char **argv)
{
    int status;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    find_mode();
    refuse();
    if (argc > 1 && 0 == strcmp(argv[1], "never")) {
        begin_with_never();
    } else {
        change();
        differ();
    }
    set_mode("never");
    status = conclude("mode");
    MPI_T_cvar_handle_free(&mode);
    pvars_end();
    MPI_T_finalize();
    MPI_Finalize();
    return status;
}
