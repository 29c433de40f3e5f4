# SPDX-License-Identifier: BSD-3-Clause
EXTRA_DIST += tools/packages quickstart examples/train_digits.py

bin_PROGRAMS += optcast-info
optcast_info_SOURCES = tools/optcast-info.c \
	tools/info_servers.c tools/info_servers.h \
	tools/info_tell.c tools/info_tell.h \
	tools/info_values.c tools/info_values.h
optcast_info_CPPFLAGS = $(AM_CPPFLAGS) -DOPTCAST_COMPONENTDIR='"$(componentdir)"'
optcast_info_LDADD = liboccontrol.la libocmulticast.la libocucx.la libocnet.la libocreduction.la libocprotocol.la \
	libocbase.la

# keeps doc/ in step with the tables of settings
noinst_PROGRAMS += tools/settings-pages
tools_settings_pages_SOURCES = tools/settings_pages.c
tools_settings_pages_CPPFLAGS = $(AM_CPPFLAGS) -DOPTCAST_SYSCONFDIR='"$(sysconfdir)"'
tools_settings_pages_LDADD = libocbase.la
