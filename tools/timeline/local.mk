# SPDX-License-Identifier: BSD-3-Clause
# Shows what ranks and servers have recorded about chunks.

bin_PROGRAMS += optcast-timeline
optcast_timeline_SOURCES = \
	tools/timeline/clocks.c tools/timeline/clocks.h \
	tools/timeline/drawing.c tools/timeline/drawing.h \
	tools/timeline/main.c \
	tools/timeline/timeline_records.c tools/timeline/timeline_records.h \
	tools/timeline/timeline_report.c tools/timeline/timeline_report.h
optcast_timeline_LDADD = libocbase.la
