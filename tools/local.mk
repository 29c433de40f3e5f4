# SPDX-License-Identifier: BSD-3-Clause
EXTRA_DIST += tools/packages quickstart examples/train_digits.py

bin_PROGRAMS += optcast-info
optcast_info_SOURCES = tools/optcast-info.c tools/info_servers.c tools/info_servers.h
optcast_info_CPPFLAGS = $(AM_CPPFLAGS) -DOPTCAST_COMPONENTDIR='"$(componentdir)"'
optcast_info_LDADD = libocmulticast.la libocucx.la libocnet.la libocreduction.la libocprotocol.la \
	libocbase.la
