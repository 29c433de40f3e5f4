# SPDX-License-Identifier: BSD-3-Clause
noinst_LTLIBRARIES += libocnet.la
libocnet_la_SOURCES = \
	net/address.h net/address.c \
	net/admission.h net/admission.c \
	net/devices.h net/devices.c \
	net/dial.h net/dial.c \
	net/filter.h net/filter.c \
	net/guarded.h net/guarded.c \
	net/host.h net/host.c \
	net/host_set.h net/host_set.c \
	net/lookup.h net/lookup.c \
	net/loop.h net/loop.c \
	net/link_speed.h net/link_speed.c \
	net/resolver.h net/resolver.c \
	net/socket.h net/socket.c
