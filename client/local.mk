# SPDX-License-Identifier: BSD-3-Clause
noinst_LTLIBRARIES += libocclient.la
libocclient_la_SOURCES = \
	client/allreduce.c \
	client/answers.h client/answers.c \
	client/cast.c \
	client/cast_group.h client/cast_group.c \
	client/cast_service.h client/cast_service.c \
	client/choose.h client/choose.c \
	client/client.h client/types.h client/client_inside.h client/client.c \
	client/codes.h client/codes.c \
	client/collapse.h client/collapse.c \
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
	client/network.h client/network.c \
	client/node.h client/node.c \
	client/pack.h client/pack.c \
	client/part.h client/part.c \
	client/parts.h client/parts.c \
	client/place.h client/place.c \
	client/plan/division.h client/plan/division.c \
	client/plan/model.h client/plan/model.c \
	client/plan/model_time.h \
	client/plan/previous.h client/plan/previous.c \
	client/readiness.h client/readiness.c \
	client/record.h client/record.c \
	client/reply.h client/reply.c \
	client/servers.h client/servers.c \
	client/setup.h client/setup.c \
	client/setup_state.h client/setup_state.c \
	client/small.h client/small.c \
	client/step.h client/step.c \
	client/submit.h client/submit.c \
	client/targets.h client/targets.c \
	client/tree.h client/tree.c \
	client/vector.h client/vector.c
libocclient_la_LIBADD = libocmulticast.la libocnode.la libocservice.la
