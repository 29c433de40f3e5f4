# SPDX-License-Identifier: BSD-3-Clause
noinst_LTLIBRARIES += libocclient.la
libocclient_la_SOURCES = \
	client/client.h client/types.h client/client.c \
	client/allreduce.c \
	client/cast.c \
	client/choose.c \
	client/codes.c \
	client/collective.c \
	client/connection.c \
	client/division.h client/division.c \
	client/flow.c \
	client/group.c \
	client/interfaces.h client/interfaces.c \
	client/introduction.h client/introduction.c \
	client/joining.h client/joining.c \
	client/lanes.c \
	client/leftovers.c \
	client/large.c \
	client/model.h client/model.c \
	client/model_time.h \
	client/node.c \
	client/pack.h client/pack.c \
	client/parts.c \
	client/place.h client/place.c \
	client/readiness.h client/readiness.c \
	client/previous.h client/previous.c \
	client/record.h client/record.c \
	client/setup.h client/setup.c \
	client/small.c \
	client/targets.h client/targets.c \
	client/tree.h client/tree.c \
	client/vector.h client/vector.c
libocclient_la_LIBADD = libocmulticast.la libocnode.la libocservice.la
