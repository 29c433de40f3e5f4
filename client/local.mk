# SPDX-License-Identifier: BSD-3-Clause
noinst_LTLIBRARIES += libocclient.la
libocclient_la_SOURCES = \
	client/process/cast_service.h client/process/cast_service.c \
	client/client.h \
	client/process/client.c \
	client/process/moving.h client/process/moving.c \
	client/process/helper.h client/process/helper.c \
	client/collective/allreduce.h client/collective/allreduce.c \
	client/collective/blocks.h client/collective/blocks.c \
	client/collective/collective.h client/collective/collective.c \
	client/collective/large.h client/collective/large.c \
	client/collective/large_flat.h client/collective/large_flat.c \
	client/collective/large_node.h client/collective/large_node.c \
	client/collective/leftovers.h client/collective/leftovers.c \
	client/collective/node.h client/collective/node.c \
	client/collective/pack.h client/collective/pack.c \
	client/collective/reply.h client/collective/reply.c \
	client/collective/slot.h client/collective/slot.c \
	client/collective/small.h client/collective/small.c \
	client/collective/step.h client/collective/step.c \
	client/collective/step_data.h client/collective/step_data.c \
	client/collective/vector.h client/collective/vector.c \
	client/group/cast.h client/group/cast.c \
	client/group/cast_group.h client/group/cast_group.c \
	client/group/group.h client/group/group.c \
	client/group/place.h client/group/place.c \
	client/group/quiet.h client/group/quiet.c \
	client/group/relay.h client/group/relay.c \
	client/group/relay_blocks.h client/group/relay_blocks.c \
	client/group/relay_buffers.h client/group/relay_buffers.c \
	client/group/relay_map.h client/group/relay_map.c \
	client/group/relay_pieces.h client/group/relay_pieces.c \
	client/group/relay_state.h client/group/relay_state.c \
	client/group/relay_watch.h client/group/relay_watch.c \
	client/group/served.h client/group/served.c \
	client/plan/division.h client/plan/division.c \
	client/plan/block_map.h client/plan/block_map.c \
	client/plan/chunk_map.h client/plan/chunk_map.c \
	client/plan/owner_shares.h client/plan/owner_shares.c \
	client/plan/model.h client/plan/model.c \
	client/plan/model_time.h \
	client/plan/offloaded.h client/plan/offloaded.c \
	client/plan/previous.h client/plan/previous.c \
	client/plan/previous_owned.h client/plan/previous_owned.c \
	client/servers/answers.h client/servers/answers.c \
	client/servers/connection.h client/servers/connection.c \
	client/servers/exposure.h client/servers/exposure.c \
	client/servers/interfaces.h client/servers/interfaces.c \
	client/servers/lanes.h client/servers/lanes.c \
	client/servers/network.h client/servers/network.c \
	client/servers/servers.h client/servers/servers.c \
	client/servers/targets.h client/servers/targets.c \
	client/servers/tree.h client/servers/tree.c \
	client/setup/choose.h client/setup/choose.c \
	client/setup/flooding.h client/setup/flooding.c \
	client/setup/introduction.h client/setup/introduction.c \
	client/setup/joining.h client/setup/joining.c \
	client/setup/setup.h client/setup/setup.c \
	client/state/codes.h client/state/codes.c \
	client/state/collapse.h client/state/collapse.c \
	client/state/readiness.h client/state/readiness.c \
	client/state/record.h client/state/record.c \
	client/state/setup_state.h client/state/setup_state.c \
	client/state/types.h \
	client/process/submit.c
libocclient_la_LIBADD = libocmulticast.la libocnode.la libocservice.la
