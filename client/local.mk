# SPDX-License-Identifier: BSD-3-Clause
noinst_LTLIBRARIES += libocclient.la
libocclient_la_SOURCES = \
	client/allreduce.h client/allreduce.c \
	client/cast.h client/cast.c \
	client/choose.c \
	client/client.h client/types.h client/client_inside.h client/client.c \
	client/codes.h client/codes.c \
	client/collective.h client/collective.c \
	client/connection.h client/connection.c \
	client/flow.h client/flow.c \
	client/group.h client/group.c \
	client/interfaces.h client/interfaces.c \
	client/introduction.h client/introduction.c \
	client/joining.h client/joining.c \
	client/lanes.h client/lanes.c \
	client/large.h client/large.c \
	client/leftovers.h client/leftovers.c \
	client/node.h client/node.c \
	client/pack.h client/pack.c \
	client/parts.h client/parts.c \
	client/place.h client/place.c \
	client/plan/division.h client/plan/division.c \
	client/plan/model.h client/plan/model.c \
	client/plan/model_time.h \
	client/plan/previous.h client/plan/previous.c \
	client/readiness.h client/readiness.c \
	client/record.h client/record.c \
	client/setup.h client/setup.c \
	client/small.h client/small.c \
	client/targets.h client/targets.c \
	client/tree.h client/tree.c \
	client/vector.h client/vector.c
libocclient_la_LIBADD = libocmulticast.la libocnode.la libocservice.la
