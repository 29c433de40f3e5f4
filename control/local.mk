# SPDX-License-Identifier: BSD-3-Clause
noinst_LTLIBRARIES += liboccontrol.la
liboccontrol_la_SOURCES = \
	control/pulse.h control/pulse.c \
	control/stream.h control/stream.c \
	control/farewell.h control/farewell.c \
	control/uplink.h control/uplink.c
