# SPDX-License-Identifier: BSD-3-Clause
# Reliable broadcast by multicast; transports behind multicast/transport.h. Whoever links it links
# libocucx, libocnet, libocprotocol and libocbase too, once each.
noinst_LTLIBRARIES += libocmulticast.la
libocmulticast_la_SOURCES = \
	multicast/cast_types.h \
	multicast/chain.c \
	multicast/credit.c \
	multicast/crc32c.h multicast/crc32c.c \
	multicast/datagram.h multicast/datagram.c \
	multicast/fragment.c \
	multicast/group.h multicast/group.c \
	multicast/message.h multicast/message.c \
	multicast/operation.c \
	multicast/post.c \
	multicast/probe.c \
	multicast/repair.c \
	multicast/send.c \
	multicast/serve.c \
	multicast/transport.h \
	multicast/tree.c
libocmulticast_la_CFLAGS = $(AM_CFLAGS) $(VERBS_CFLAGS)
libocmulticast_la_LIBADD = $(VERBS_LIBS)

