# SPDX-License-Identifier: BSD-3-Clause
# What the adapters of MPI libraries have in common. mpi_map.c and what includes mpi.h they compile themselves.
noinst_LTLIBRARIES += libocadapter.la
libocadapter_la_SOURCES = \
	adapter/counters.h adapter/counters.c \
	adapter/reason.h adapter/reason.c \
	adapter/fallback.h adapter/fallback.c \
	adapter/half.h adapter/half.c \
	adapter/launcher.h adapter/launcher.c \
	adapter/block_layout.h adapter/block_layout.c \
	adapter/patience.h adapter/patience.c \
	adapter/summary.h adapter/summary.c \
	adapter/terms.h adapter/terms.c
libocadapter_la_CPPFLAGS = $(AM_CPPFLAGS) $(RULES_CPPFLAGS)
libocadapter_la_LIBADD = libocclient.la
