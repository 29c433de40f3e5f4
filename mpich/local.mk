# SPDX-License-Identifier: BSD-3-Clause
# The engine under programs of MPICH and of libraries with its binary interface. Linked to none of them: what it needs of
# MPI the program brings along. Never unloaded: MPI calls back into it.
if HAVE_MPICH
lib_LTLIBRARIES += liboptcast-mpich.la
liboptcast_mpich_la_SOURCES = \
	adapter/mpi_map.h adapter/mpi_map.c \
	mpich/call.h \
	mpich/comm.h \
	mpich/comm.c \
	mpich/enter.h \
	mpich/enter.c \
	mpich/entry.c \
	mpich/exchange.h \
	mpich/exchange.c \
	mpich/get_status.h \
	mpich/get_status.c \
	mpich/handles.h \
	mpich/left.h \
	mpich/left.c \
	mpich/library.h \
	mpich/library.c \
	mpich/life.h \
	mpich/life.c \
	mpich/meeting.h \
	mpich/meeting.c \
	mpich/memory.h \
	mpich/memory.c \
	mpich/mpich_allgather.h \
	mpich/mpich_allgather.c \
	mpich/mpich_allreduce.h \
	mpich/mpich_allreduce.c \
	mpich/mpich_bcast.h \
	mpich/mpich_bcast.c \
	mpich/mpich_counters.h \
	mpich/mpich_counters.c \
	mpich/mpich_layout.h \
	mpich/mpich_layout.c \
	mpich/mpich_op.h \
	mpich/mpich_op.c \
	mpich/mpich_operate.h \
	mpich/mpich_operate.c \
	mpich/mpich_reduce.h \
	mpich/mpich_reduce.c \
	mpich/mpich_reduce_scatter.h \
	mpich/mpich_reduce_scatter.c \
	mpich/mpich_settings.h \
	mpich/mpich_settings.c \
	mpich/mpich_start.h \
	mpich/mpich_start.c \
	mpich/mpich_values.h \
	mpich/mpich_values.c \
	mpich/pmpi.h \
	mpich/reductions.h \
	mpich/reductions.c \
	mpich/report.h \
	mpich/report.c \
	mpich/request.h \
	mpich/request.c \
	mpich/state.h \
	mpich/state.c
liboptcast_mpich_la_CPPFLAGS = $(AM_CPPFLAGS) $(MPICH_CPPFLAGS)
liboptcast_mpich_la_LDFLAGS = $(AM_LDFLAGS) -module -avoid-version -Wl,-z,nodelete
liboptcast_mpich_la_LIBADD = libocadapter.la
endif
