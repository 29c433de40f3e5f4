# SPDX-License-Identifier: BSD-3-Clause
noinst_LTLIBRARIES += libocbase.la
libocbase_la_SOURCES = \
	base/clock.h \
	base/log.h base/log.c \
	base/settings.h base/settings.c \
	base/status.h base/status.c \
	base/text.h base/text.c \
	base/timeline.h base/timeline.c
