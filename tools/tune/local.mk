# SPDX-License-Identifier: BSD-3-Clause
# Writes the rules of mode auto from measurements.

bin_PROGRAMS += optcast-tune
optcast_tune_SOURCES = \
	tools/tune/decision.c tools/tune/decision.h \
	tools/tune/main.c \
	tools/tune/merge.c tools/tune/merge.h \
	tools/tune/tune_options.c tools/tune/tune_options.h \
	tools/tune/rules_file.c tools/tune/rules_file.h \
	tools/tune/rule.c tools/tune/rule.h \
	tools/tune/survey.c tools/tune/survey.h
optcast_tune_CPPFLAGS = $(AM_CPPFLAGS) $(OMPI_APP_CPPFLAGS)
optcast_tune_LDADD = libocperf.la libocnet.la libocprotocol.la libocbase.la $(OMPI_APP_LIBS)

# The same as a program of MPICH.
if HAVE_MPICH
bin_PROGRAMS += optcast-tune-mpich
optcast_tune_mpich_SOURCES = $(optcast_tune_SOURCES)
optcast_tune_mpich_CPPFLAGS = $(AM_CPPFLAGS) $(MPICH_CPPFLAGS)
optcast_tune_mpich_LDADD = libocperf-mpich.la libocnet.la libocprotocol.la libocbase.la $(MPICH_LIBS)
endif
