# SPDX-License-Identifier: BSD-3-Clause
# where coll_optcast_rules looks unless it is set
RULES_CPPFLAGS = -DOPTCAST_RULES='"$(sysconfdir)/optcast/rules.ini"'

noinst_LTLIBRARIES += libocbase.la
libocbase_la_SOURCES = \
	base/arithmetic.h \
	base/check.h \
	base/clock.h \
	base/descriptors.h base/descriptors.c \
	base/handles.h base/handles.c \
	base/limits.h \
	base/log.h base/log.c \
	base/mac.h base/mac.c \
	base/registers.h base/registers.c \
	base/output.h base/output.c \
	base/rules.h base/rules.c \
	base/settings.h base/settings.c \
	base/settings_text.h base/settings_text.c \
	base/signals.h \
	base/status.h base/status.c \
	base/stock.h base/stock.c \
	base/text.h base/text.c \
	base/threads.h base/threads.c \
	base/throttle.h base/throttle.c \
	base/timeline.h base/timeline.c \
	base/wire.h
libocbase_la_CPPFLAGS = $(AM_CPPFLAGS) $(RULES_CPPFLAGS)
libocbase_la_CFLAGS = $(AM_CFLAGS) $(INIH_CFLAGS) $(CRYPTO_CFLAGS)
libocbase_la_LIBADD = $(INIH_LIBS) $(CRYPTO_LIBS) -lm
