# SPDX-License-Identifier: BSD-3-Clause
# The benchmark: MPI as applications use it, for any MPI. By hand, with another one:
#   mpicc -std=gnu11 -O2 -I. -o optcast-perf tools/perf/*.c base/text.c

# What measures, which optcast-tune needs, too.
noinst_LTLIBRARIES += libocperf.la
libocperf_la_SOURCES = \
	tools/perf/arguments.c tools/perf/arguments.h \
	tools/perf/calls.c tools/perf/calls.h \
	tools/perf/check.c tools/perf/check.h \
	tools/perf/component.c tools/perf/component.h \
	tools/perf/file.c tools/perf/file.h \
	tools/perf/perf_job.c tools/perf/perf_job.h \
	tools/perf/layout.c tools/perf/layout.h \
	tools/perf/measure.c tools/perf/measure.h \
	tools/perf/meter.c tools/perf/meter.h \
	tools/perf/meter_types.h \
	tools/perf/operate.c tools/perf/operate.h \
	tools/perf/outside.c tools/perf/outside.h \
	tools/perf/preloaded.c tools/perf/preloaded.h \
	tools/perf/part.c tools/perf/part.h \
	tools/perf/traffic.c tools/perf/traffic.h \
	tools/perf/types.c tools/perf/types.h \
	tools/perf/values.c tools/perf/values.h \
	tools/perf/wire.c tools/perf/wire.h \
	tools/perf/work.c tools/perf/work.h
libocperf_la_CPPFLAGS = $(AM_CPPFLAGS) $(OMPI_APP_CPPFLAGS)
libocperf_la_LIBADD = libocbase.la

bin_PROGRAMS += optcast-perf
optcast_perf_SOURCES = \
	tools/perf/main.c \
	tools/perf/perf_options.c tools/perf/perf_options.h \
	tools/perf/perf_records.c tools/perf/perf_records.h \
	tools/perf/perf_report.c tools/perf/perf_report.h
optcast_perf_CPPFLAGS = $(AM_CPPFLAGS) $(OMPI_APP_CPPFLAGS)
optcast_perf_LDADD = libocperf.la $(OMPI_APP_LIBS)

# The same as a program of MPICH, whose header says of statuses that are to be ignored how many there are.
if HAVE_MPICH
noinst_LTLIBRARIES += libocperf-mpich.la
libocperf_mpich_la_SOURCES = $(libocperf_la_SOURCES)
libocperf_mpich_la_CPPFLAGS = $(AM_CPPFLAGS) $(MPICH_CPPFLAGS)
libocperf_mpich_la_CFLAGS = $(AM_CFLAGS) -Wno-stringop-overflow
libocperf_mpich_la_LIBADD = libocbase.la

bin_PROGRAMS += optcast-perf-mpich
optcast_perf_mpich_SOURCES = $(optcast_perf_SOURCES)
optcast_perf_mpich_CPPFLAGS = $(AM_CPPFLAGS) $(MPICH_CPPFLAGS)
optcast_perf_mpich_LDADD = libocperf-mpich.la $(MPICH_LIBS)
endif
