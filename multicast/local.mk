# SPDX-License-Identifier: BSD-3-Clause
# Whether a network floods multicast: servers take part in tests of that, and need no more of multicast.
noinst_LTLIBRARIES += libocflood.la
libocflood_la_SOURCES = \
	multicast/flood/flood_frame.h multicast/flood/flood_frame.c \
	multicast/flood/flood_judge.h multicast/flood/flood_judge.c \
	multicast/flood/flood_place.h multicast/flood/flood_place.c \
	multicast/flood/flood_sender.h multicast/flood/flood_sender.c \
	multicast/flood/flood_test.h multicast/flood/flood_test.c \
	multicast/flood/flood_watch.h multicast/flood/flood_watch.c \
	multicast/transport/flood_socket.h multicast/transport/flood_socket.c \
	multicast/transport/interface.h multicast/transport/interface.c \
	multicast/transport/watch_counters.h multicast/transport/watch_counters.c \
	multicast/transport/watch_packets.h multicast/transport/watch_packets.c

# Reliable broadcast by multicast; transports behind multicast/transport/transport.h. Whoever links it links
# libocflood, libocucx, libocnet, libocnode, libocprotocol and libocbase too, once each.
noinst_LTLIBRARIES += libocmulticast.la
libocmulticast_la_SOURCES = \
	multicast/core/alternate.h multicast/core/alternate.c \
	multicast/core/backoff.h multicast/core/backoff.c \
	multicast/core/cast_arrival.c \
	multicast/core/cast_check.h multicast/core/cast_check.c \
	multicast/core/cast_types.h \
	multicast/core/chain.h multicast/core/chain.c \
	multicast/core/crc32c.h multicast/core/crc32c.c \
	multicast/core/credit.h multicast/core/credit.c \
	multicast/core/deliver.h multicast/core/deliver.c \
	multicast/core/fail.h multicast/core/fail.c \
	multicast/core/fragment.h multicast/core/fragment.c \
	multicast/core/cast_core.h multicast/core/cast_core.c \
	multicast/core/cast_memory.h multicast/core/cast_memory.c \
	multicast/core/open_blocks.h multicast/core/open_blocks.c \
	multicast/core/pace.h multicast/core/pace.c \
	multicast/core/operation.h multicast/core/operation.c \
	multicast/core/partners.h multicast/core/partners.c \
	multicast/core/poll.h multicast/core/poll.c \
	multicast/core/post.h multicast/core/post.c \
	multicast/core/cast_probe.h multicast/core/cast_probe.c \
	multicast/core/recast.h multicast/core/recast.c \
	multicast/core/reception.h multicast/core/reception.c \
	multicast/core/unicast.h multicast/core/unicast.c \
	multicast/core/repair.h multicast/core/repair.c \
	multicast/core/route.h multicast/core/route.c \
	multicast/core/cast_seal.h multicast/core/cast_seal.c \
	multicast/core/send.h multicast/core/send.c \
	multicast/core/serve.h multicast/core/serve.c \
	multicast/core/source.h multicast/core/source.c \
	multicast/core/cast_tree.h multicast/core/cast_tree.c \
	multicast/peers/note.h multicast/peers/note.c \
	multicast/peers/outbox.h multicast/peers/outbox.c \
	multicast/peers/peer.h multicast/peers/peer.c \
	multicast/peers/cast_peers.h multicast/peers/cast_peers.c \
	multicast/peers/peers_types.h \
	multicast/peers/sharing.h multicast/peers/sharing.c \
	multicast/peers/shelf.h multicast/peers/shelf.c \
	multicast/service/activity.h multicast/service/activity.c \
	multicast/service/cast_hosts.h multicast/service/cast_hosts.c \
	multicast/service/flood_plan.h multicast/service/flood_plan.c \
	multicast/service/flood_show.c \
	multicast/service/flood_service.h multicast/service/flood_service.c \
	multicast/service/cast_judge.c \
	multicast/service/cast_member.h multicast/service/cast_member.c \
	multicast/service/multicast.h multicast/service/multicast.c \
	multicast/service/companion.h multicast/service/companion.c \
	multicast/service/cast_record.h multicast/service/cast_record.c \
	multicast/service/cast_set.h multicast/service/cast_set.c \
	multicast/service/service.h \
	multicast/service/cast_transports.h multicast/service/cast_transports.c \
	multicast/transport/cast_address.h multicast/transport/cast_address.c \
	multicast/transport/piece.h multicast/transport/piece.c \
	multicast/transport/senders.h multicast/transport/senders.c \
	multicast/transport/transport.h \
	multicast/transport/udp.h multicast/transport/udp.c \
	multicast/transport/udp_receive.h multicast/transport/udp_receive.c \
	multicast/transport/udp_send.h multicast/transport/udp_send.c \
	multicast/transport/udp_source.h multicast/transport/udp_source.c \
	multicast/transport/udp_staging.h multicast/transport/udp_staging.c \
	multicast/transport/verbs.h \
	multicast/transport/verbs_membership.h multicast/transport/verbs_membership.c \
	multicast/transport/verbs_origin.h multicast/transport/verbs_origin.c \
	multicast/wire/contact.h multicast/wire/contact.c \
	multicast/wire/datagram.h multicast/wire/datagram.c \
	multicast/wire/cast_message.h multicast/wire/cast_message.c
libocmulticast_la_CFLAGS = $(AM_CFLAGS) $(VERBS_CFLAGS)
libocmulticast_la_LIBADD = libocstaging.la $(VERBS_LIBS)

if HAVE_VERBS
libocmulticast_la_SOURCES += \
	multicast/transport/verbs.c \
	multicast/transport/verbs_group.h multicast/transport/verbs_group.c \
	multicast/transport/verbs_intake.h multicast/transport/verbs_intake.c \
	multicast/transport/verbs_pair.h multicast/transport/verbs_pair.c \
	multicast/transport/verbs_port.h multicast/transport/verbs_port.c \
	multicast/transport/verbs_ring.h multicast/transport/verbs_ring.c \
	multicast/transport/verbs_source.h multicast/transport/verbs_source.c \
	multicast/transport/verbs_watch.h multicast/transport/verbs_watch.c
else
libocmulticast_la_SOURCES += multicast/transport/verbs_none.c
endif
