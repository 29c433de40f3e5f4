# SPDX-License-Identifier: BSD-3-Clause
EXTRA_DIST += tools/packages quickstart examples/fsdp.py examples/train_digits.py examples/train_digits.c

bin_PROGRAMS += optcast-info
optcast_info_SOURCES = tools/optcast-info.c \
	tools/info_servers.c tools/info_servers.h \
	tools/info_values.c tools/info_values.h
optcast_info_CPPFLAGS = $(AM_CPPFLAGS) -DOPTCAST_COMPONENTDIR='"$(componentdir)"'
optcast_info_LDADD = libocsurvey.la liboccontrol.la libocmulticast.la libocflood.la libocucx.la libocnet.la libocreduction.la \
	libocprotocol.la libocbase.la

# optcast-info --multicast
noinst_LTLIBRARIES += libocsurvey.la
libocsurvey_la_SOURCES = \
	tools/info_tell.c tools/info_tell.h \
	tools/survey/survey_control.c tools/survey/survey_control.h \
	tools/survey/survey_findings.c tools/survey/survey_findings.h \
	tools/survey/survey_host.c tools/survey/survey_host.h \
	tools/survey/survey_launcher.c tools/survey/survey_launcher.h \
	tools/survey/survey_link.c tools/survey/survey_link.h \
	tools/survey/survey_meeting.c tools/survey/survey_meeting.h \
	tools/survey/survey_options.c tools/survey/survey_options.h \
	tools/survey/survey_pmix.h \
	tools/survey/survey_probe.c tools/survey/survey_probe.h \
	tools/survey/survey_report.c tools/survey/survey_report.h \
	tools/survey/survey_run.c tools/survey/survey_run.h \
	tools/survey/survey_types.h \
	tools/survey/survey_wire.c tools/survey/survey_wire.h
libocsurvey_la_CFLAGS = $(AM_CFLAGS) $(PMIX_CFLAGS)

if HAVE_PMIX
libocsurvey_la_SOURCES += tools/survey/survey_pmix.c
else
libocsurvey_la_SOURCES += tools/survey/survey_pmix_none.c
endif

# keeps doc/ in step with the tables of settings
noinst_PROGRAMS += tools/settings-pages
tools_settings_pages_SOURCES = tools/settings_pages.c
tools_settings_pages_CPPFLAGS = $(AM_CPPFLAGS) -DOPTCAST_SYSCONFDIR='"$(sysconfdir)"'
tools_settings_pages_LDADD = libocbase.la
