# SPDX-License-Identifier: BSD-3-Clause
# Reliable broadcast by multicast; transports behind multicast/transport.h. Whoever links it links
# libocucx, libocnet, libocnode, libocprotocol and libocbase too, once each.
noinst_LTLIBRARIES += libocmulticast.la
libocmulticast_la_SOURCES = \
	multicast/address.h multicast/address.c \
	multicast/arrival.c \
	multicast/cast_types.h \
	multicast/chain.c \
	multicast/contact.h multicast/contact.c \
	multicast/credit.c \
	multicast/crc32c.h multicast/crc32c.c \
	multicast/datagram.h multicast/datagram.c \
	multicast/fragment.c \
	multicast/group.h multicast/group.c \
	multicast/interface.h multicast/interface.c \
	multicast/member.c \
	multicast/memory.c \
	multicast/message.h multicast/message.c \
	multicast/multicast.h multicast/multicast.c \
	multicast/note.h multicast/note.c \
	multicast/operation.c \
	multicast/outbox.c \
	multicast/peers.h multicast/peers.c \
	multicast/peers_types.h \
	multicast/post.c \
	multicast/probe.c \
	multicast/random.h \
	multicast/record.h multicast/record.c \
	multicast/repair.c \
	multicast/route.c \
	multicast/seal.h multicast/seal.c \
	multicast/send.c \
	multicast/senders.h multicast/senders.c \
	multicast/serve.c \
	multicast/service.h \
	multicast/sharing.c \
	multicast/shelf.h multicast/shelf.c \
	multicast/shim.h multicast/shim.c \
	multicast/source.c \
	multicast/transport.h \
	multicast/transports.h multicast/transports.c \
	multicast/tree.c \
	multicast/udp.h multicast/udp.c \
	multicast/udp_receive.h multicast/udp_receive.c \
	multicast/udp_send.h multicast/udp_send.c \
	multicast/udp_source.h multicast/udp_source.c \
	multicast/verbs.h \
	multicast/verbs_origin.h multicast/verbs_origin.c
libocmulticast_la_CFLAGS = $(AM_CFLAGS) $(VERBS_CFLAGS)
libocmulticast_la_LIBADD = libocstaging.la $(VERBS_LIBS)

if HAVE_VERBS
libocmulticast_la_SOURCES += \
	multicast/verbs.c \
	multicast/verbs_port.h multicast/verbs_port.c \
	multicast/verbs_ring.h multicast/verbs_ring.c \
	multicast/verbs_source.h multicast/verbs_source.c
else
libocmulticast_la_SOURCES += multicast/verbs_none.c
endif
