# SPDX-License-Identifier: BSD-3-Clause
# Unit tests: one program for each object.

if HAVE_CMOCKA
check_PROGRAMS += tests/unit/test_reduction
tests_unit_test_reduction_SOURCES = tests/unit/test_reduction.c \
	tests/unit/reduction_reference.h tests/unit/reduction_reference.c
tests_unit_test_reduction_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_reduction_LDADD = libocreduction.la $(CMOCKA_LIBS) -lm

check_PROGRAMS += tests/unit/test_reduction_values
tests_unit_test_reduction_values_SOURCES = tests/unit/test_reduction_values.c \
	tests/unit/reduction_reference.h tests/unit/reduction_reference.c
tests_unit_test_reduction_values_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_reduction_values_LDADD = libocreduction.la $(CMOCKA_LIBS) -lm

check_PROGRAMS += tests/unit/test_arithmetic
tests_unit_test_arithmetic_SOURCES = tests/unit/test_arithmetic.c
tests_unit_test_arithmetic_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_arithmetic_LDADD = libocreduction.la $(CMOCKA_LIBS) -lm

check_PROGRAMS += tests/unit/test_lost
tests_unit_test_lost_SOURCES = tests/unit/test_lost.c
tests_unit_test_lost_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_lost_LDADD = libocprotocol.la libocbase.la $(CMOCKA_LIBS)

check_PROGRAMS += tests/unit/test_leave
tests_unit_test_leave_SOURCES = tests/unit/test_leave.c
tests_unit_test_leave_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_leave_LDADD = libocclient.la $(CMOCKA_LIBS)

check_PROGRAMS += tests/unit/test_promise
tests_unit_test_promise_SOURCES = tests/unit/test_promise.c
tests_unit_test_promise_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_promise_LDADD = libocclient.la $(CMOCKA_LIBS)

check_PROGRAMS += tests/unit/test_pulse
tests_unit_test_pulse_SOURCES = tests/unit/test_pulse.c
tests_unit_test_pulse_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_pulse_LDADD = libocclient.la $(CMOCKA_LIBS)

check_PROGRAMS += tests/unit/test_comeback
tests_unit_test_comeback_SOURCES = tests/unit/test_comeback.c
tests_unit_test_comeback_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_comeback_LDADD = libocclient.la $(CMOCKA_LIBS)

check_PROGRAMS += tests/unit/test_launcher
tests_unit_test_launcher_SOURCES = tests/unit/test_launcher.c
tests_unit_test_launcher_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_launcher_LDADD = libocadapter.la $(CMOCKA_LIBS)

check_PROGRAMS += tests/unit/test_pack
tests_unit_test_pack_SOURCES = tests/unit/test_pack.c
tests_unit_test_pack_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_pack_LDADD = libocclient.la $(CMOCKA_LIBS)

check_PROGRAMS += tests/unit/test_server_tree
tests_unit_test_server_tree_SOURCES = tests/unit/test_server_tree.c
tests_unit_test_server_tree_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_server_tree_LDADD = libocclient.la $(CMOCKA_LIBS)

check_PROGRAMS += tests/unit/test_division
tests_unit_test_division_SOURCES = tests/unit/test_division.c
tests_unit_test_division_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_division_LDADD = libocclient.la $(CMOCKA_LIBS) -lm

check_PROGRAMS += tests/unit/test_chunk_map
tests_unit_test_chunk_map_SOURCES = tests/unit/test_chunk_map.c
tests_unit_test_chunk_map_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_chunk_map_LDADD = libocclient.la $(CMOCKA_LIBS)

check_PROGRAMS += tests/unit/test_block_map
tests_unit_test_block_map_SOURCES = tests/unit/test_block_map.c tests/random.h
tests_unit_test_block_map_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_block_map_LDADD = libocclient.la $(CMOCKA_LIBS)

check_PROGRAMS += tests/unit/test_owner_shares
tests_unit_test_owner_shares_SOURCES = tests/unit/test_owner_shares.c
tests_unit_test_owner_shares_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_owner_shares_LDADD = libocclient.la $(CMOCKA_LIBS)

check_PROGRAMS += tests/unit/test_wide
tests_unit_test_wide_SOURCES = tests/unit/test_wide.c \
	tests/unit/reduction_reference.h tests/unit/reduction_reference.c
tests_unit_test_wide_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_wide_LDADD = libocreduction.la $(CMOCKA_LIBS) -lm

check_PROGRAMS += tests/unit/test_convert
tests_unit_test_convert_SOURCES = tests/unit/test_convert.c optcast/convert.h
tests_unit_test_convert_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_convert_LDADD = $(CMOCKA_LIBS) -lm

check_PROGRAMS += tests/unit/test_control
tests_unit_test_control_SOURCES = tests/unit/test_control.c tests/unit/fence.h
tests_unit_test_control_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_control_LDADD = libocprotocol.la libocbase.la $(CMOCKA_LIBS)

check_PROGRAMS += tests/unit/test_mac
tests_unit_test_mac_SOURCES = tests/unit/test_mac.c
tests_unit_test_mac_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_mac_LDADD = libocbase.la $(CMOCKA_LIBS)

check_PROGRAMS += tests/unit/test_message
tests_unit_test_message_SOURCES = tests/unit/test_message.c tests/unit/fence.h
tests_unit_test_message_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_message_LDADD = libocprotocol.la libocbase.la $(CMOCKA_LIBS)

check_PROGRAMS += tests/unit/test_seal
tests_unit_test_seal_SOURCES = tests/unit/test_seal.c
tests_unit_test_seal_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_seal_LDADD = libocprotocol.la libocbase.la $(CMOCKA_LIBS)

check_PROGRAMS += tests/unit/test_datagram
tests_unit_test_datagram_SOURCES = tests/unit/test_datagram.c tests/unit/fence.h
tests_unit_test_datagram_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_datagram_LDADD = libocclient.la $(CMOCKA_LIBS)

check_PROGRAMS += tests/unit/test_backoff
tests_unit_test_backoff_SOURCES = tests/unit/test_backoff.c
tests_unit_test_backoff_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_backoff_LDADD = libocclient.la $(CMOCKA_LIBS)

check_PROGRAMS += tests/unit/test_open_blocks
tests_unit_test_open_blocks_SOURCES = tests/unit/test_open_blocks.c
tests_unit_test_open_blocks_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_open_blocks_LDADD = libocclient.la $(CMOCKA_LIBS)

check_PROGRAMS += tests/unit/test_partners
tests_unit_test_partners_SOURCES = tests/unit/test_partners.c
tests_unit_test_partners_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_partners_LDADD = libocclient.la $(CMOCKA_LIBS)

check_PROGRAMS += tests/unit/test_cast_message
tests_unit_test_cast_message_SOURCES = tests/unit/test_cast_message.c tests/unit/fence.h
tests_unit_test_cast_message_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_cast_message_LDADD = libocclient.la $(CMOCKA_LIBS)

check_PROGRAMS += tests/unit/test_cast_transports
tests_unit_test_cast_transports_SOURCES = tests/unit/test_cast_transports.c tests/random.h tests/unit/own_network.h
tests_unit_test_cast_transports_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_cast_transports_LDADD = libocclient.la $(CMOCKA_LIBS)

check_PROGRAMS += tests/unit/test_cast_set
tests_unit_test_cast_set_SOURCES = tests/unit/test_cast_set.c tests/random.h
tests_unit_test_cast_set_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_cast_set_LDADD = libocclient.la $(CMOCKA_LIBS)

check_PROGRAMS += tests/unit/test_cast_record
tests_unit_test_cast_record_SOURCES = tests/unit/test_cast_record.c
tests_unit_test_cast_record_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_cast_record_LDADD = libocclient.la $(CMOCKA_LIBS)

check_PROGRAMS += tests/unit/test_flood
tests_unit_test_flood_SOURCES = tests/unit/test_flood.c
tests_unit_test_flood_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_flood_LDADD = libocclient.la $(CMOCKA_LIBS)

check_PROGRAMS += tests/unit/test_survey
tests_unit_test_survey_SOURCES = tests/unit/test_survey.c
tests_unit_test_survey_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_survey_LDADD = libocsurvey.la libocclient.la $(CMOCKA_LIBS)

check_PROGRAMS += tests/unit/test_exposure
tests_unit_test_exposure_SOURCES = tests/unit/test_exposure.c
tests_unit_test_exposure_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_exposure_LDFLAGS = -Wl,--wrap=oc_multicast_flood_hosts,--wrap=oc_multicast_show_begin \
	-Wl,--wrap=oc_multicast_show_is_over,--wrap=oc_multicast_show_end
tests_unit_test_exposure_LDADD = libocclient.la $(CMOCKA_LIBS)

check_PROGRAMS += tests/unit/test_flooding
tests_unit_test_flooding_SOURCES = tests/unit/test_flooding.c tests/unit/own_network.h
tests_unit_test_flooding_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_flooding_LDFLAGS = -Wl,--wrap=oc_watch_counters_read
tests_unit_test_flooding_LDADD = libocclient.la $(CMOCKA_LIBS)

check_PROGRAMS += tests/unit/test_watch
tests_unit_test_watch_SOURCES = tests/unit/test_watch.c tests/unit/own_network.h
tests_unit_test_watch_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_watch_LDADD = libocclient.la $(CMOCKA_LIBS)

check_PROGRAMS += tests/unit/test_rules
tests_unit_test_rules_SOURCES = tests/unit/test_rules.c
tests_unit_test_rules_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_rules_LDADD = libocbase.la $(CMOCKA_LIBS)

check_PROGRAMS += tests/unit/test_model
tests_unit_test_model_SOURCES = tests/unit/test_model.c
tests_unit_test_model_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_model_LDADD = libocclient.la $(CMOCKA_LIBS)

check_PROGRAMS += tests/unit/test_network_rate
tests_unit_test_network_rate_SOURCES = tests/unit/test_network_rate.c
tests_unit_test_network_rate_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_network_rate_LDADD = libocnet.la $(CMOCKA_LIBS)

check_PROGRAMS += tests/unit/test_previous
tests_unit_test_previous_SOURCES = tests/unit/test_previous.c
tests_unit_test_previous_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_previous_LDADD = libocclient.la $(CMOCKA_LIBS)

check_PROGRAMS += tests/unit/test_previous_owned
tests_unit_test_previous_owned_SOURCES = tests/unit/test_previous_owned.c
tests_unit_test_previous_owned_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_previous_owned_LDADD = libocclient.la $(CMOCKA_LIBS)

check_PROGRAMS += tests/unit/test_peers
tests_unit_test_peers_SOURCES = tests/unit/test_peers.c
tests_unit_test_peers_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_peers_LDADD = libocclient.la $(CMOCKA_LIBS)

check_PROGRAMS += tests/unit/test_peer_sharing
tests_unit_test_peer_sharing_SOURCES = tests/unit/test_peer_sharing.c
tests_unit_test_peer_sharing_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_peer_sharing_LDADD = libocclient.la $(CMOCKA_LIBS)

check_PROGRAMS += tests/unit/test_record
tests_unit_test_record_SOURCES = tests/unit/test_record.c tests/unit/fence.h
tests_unit_test_record_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_record_LDADD = libocclient.la $(CMOCKA_LIBS)

check_PROGRAMS += tests/unit/test_note
tests_unit_test_note_SOURCES = tests/unit/test_note.c tests/unit/fence.h
tests_unit_test_note_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_note_LDADD = libocclient.la $(CMOCKA_LIBS)

check_PROGRAMS += tests/unit/test_shelf
tests_unit_test_shelf_SOURCES = tests/unit/test_shelf.c
tests_unit_test_shelf_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_shelf_LDADD = libocclient.la $(CMOCKA_LIBS)
check_PROGRAMS += tests/unit/test_doorbell
tests_unit_test_doorbell_SOURCES = tests/unit/test_doorbell.c
tests_unit_test_doorbell_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_doorbell_LDADD = libocnode.la libocbase.la $(CMOCKA_LIBS)

check_PROGRAMS += tests/unit/test_ring
tests_unit_test_ring_SOURCES = tests/unit/test_ring.c
tests_unit_test_ring_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_ring_LDADD = libocnode.la libocbase.la $(CMOCKA_LIBS)

check_PROGRAMS += tests/unit/test_segment
tests_unit_test_segment_SOURCES = tests/unit/test_segment.c
tests_unit_test_segment_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_segment_LDADD = libocnode.la libocbase.la $(CMOCKA_LIBS)

check_PROGRAMS += tests/unit/test_tag
tests_unit_test_tag_SOURCES = tests/unit/test_tag.c
tests_unit_test_tag_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_tag_LDADD = $(CMOCKA_LIBS)

check_PROGRAMS += tests/unit/test_settings
tests_unit_test_settings_SOURCES = tests/unit/test_settings.c
tests_unit_test_settings_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_settings_LDADD = libocbase.la $(CMOCKA_LIBS)

check_PROGRAMS += tests/unit/test_devices
tests_unit_test_devices_SOURCES = tests/unit/test_devices.c
tests_unit_test_devices_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_devices_LDADD = libocnet.la libocbase.la $(CMOCKA_LIBS)

check_PROGRAMS += tests/unit/test_address
tests_unit_test_address_SOURCES = tests/unit/test_address.c
tests_unit_test_address_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_address_LDADD = libocnet.la libocprotocol.la libocbase.la $(CMOCKA_LIBS)

check_PROGRAMS += tests/unit/test_stream
tests_unit_test_stream_SOURCES = tests/unit/test_stream.c
tests_unit_test_stream_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_stream_LDADD = liboccontrol.la libocnet.la libocprotocol.la libocbase.la $(CMOCKA_LIBS)

check_PROGRAMS += tests/unit/test_farewell
tests_unit_test_farewell_SOURCES = tests/unit/test_farewell.c
tests_unit_test_farewell_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_farewell_LDADD = liboccontrol.la libocbase.la $(CMOCKA_LIBS)

check_PROGRAMS += tests/unit/test_uplink
tests_unit_test_uplink_SOURCES = tests/unit/test_uplink.c
tests_unit_test_uplink_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_uplink_LDADD = liboccontrol.la libocnet.la libocprotocol.la libocbase.la $(CMOCKA_LIBS) -lpthread

check_PROGRAMS += tests/unit/test_loop
tests_unit_test_loop_SOURCES = tests/unit/test_loop.c
tests_unit_test_loop_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_loop_LDADD = libocnet.la libocprotocol.la libocbase.la $(CMOCKA_LIBS)

check_PROGRAMS += tests/unit/test_output
tests_unit_test_output_SOURCES = tests/unit/test_output.c
tests_unit_test_output_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_output_LDADD = libocbase.la $(CMOCKA_LIBS) -lutil

# a module that is opened and closed; -rpath makes a shared library of it
check_LTLIBRARIES += tests/unit/fork_guest.la
tests_unit_fork_guest_la_SOURCES = tests/unit/fork_guest.c
tests_unit_fork_guest_la_LDFLAGS = -module -avoid-version -shared -rpath /nowhere
tests_unit_fork_guest_la_LIBADD = libocbase.la

check_PROGRAMS += tests/unit/test_descriptors
tests_unit_test_descriptors_SOURCES = tests/unit/test_descriptors.c
tests_unit_test_descriptors_CPPFLAGS = $(AM_CPPFLAGS) \
	-DGUEST=\"$(abs_builddir)/tests/unit/.libs/fork_guest.so\"
tests_unit_test_descriptors_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_descriptors_LDADD = libocbase.la $(CMOCKA_LIBS) -lpthread -ldl
tests_unit_test_descriptors_DEPENDENCIES = libocbase.la tests/unit/fork_guest.la

check_PROGRAMS += tests/unit/test_handles
tests_unit_test_handles_SOURCES = tests/unit/test_handles.c
tests_unit_test_handles_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_handles_LDADD = libocbase.la $(CMOCKA_LIBS)

check_PROGRAMS += tests/unit/test_leftovers
tests_unit_test_leftovers_SOURCES = tests/unit/test_leftovers.c \
	tests/unit/aggregator_fixture.h tests/unit/aggregator_fixture.c
tests_unit_test_leftovers_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_leftovers_LDADD = libocservice.la $(CMOCKA_LIBS)

check_PROGRAMS += tests/unit/test_pool
tests_unit_test_pool_SOURCES = tests/unit/test_pool.c
tests_unit_test_pool_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_pool_LDADD = libocservice.la $(CMOCKA_LIBS)

check_PROGRAMS += tests/unit/test_stock
tests_unit_test_stock_SOURCES = tests/unit/test_stock.c
tests_unit_test_stock_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_stock_LDADD = libocbase.la $(CMOCKA_LIBS)
check_PROGRAMS += tests/unit/test_pages
tests_unit_test_pages_SOURCES = tests/unit/test_pages.c
tests_unit_test_pages_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_pages_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=mmap -Wl,--wrap=madvise \
	-Wl,--wrap=sysconf -Wl,--wrap=posix_memalign
tests_unit_test_pages_LDADD = libocservice.la $(CMOCKA_LIBS)

check_PROGRAMS += tests/unit/test_placement
tests_unit_test_placement_SOURCES = tests/unit/test_placement.c
tests_unit_test_placement_CPPFLAGS = $(AM_CPPFLAGS) -DTOPOLOGIES=\"$(abs_srcdir)/tests/topologies\"
tests_unit_test_placement_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS) $(HWLOC_CFLAGS)
tests_unit_test_placement_LDADD = libocservice.la $(CMOCKA_LIBS) $(HWLOC_LIBS)
check_PROGRAMS += tests/unit/test_tag_table
tests_unit_test_tag_table_SOURCES = tests/unit/test_tag_table.c
tests_unit_test_tag_table_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_tag_table_LDADD = libocservice.la $(CMOCKA_LIBS)
tests_unit_test_tag_table_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=calloc

check_PROGRAMS += tests/unit/test_reserve
tests_unit_test_reserve_SOURCES = tests/unit/test_reserve.c \
	tests/unit/aggregator_fixture.h tests/unit/aggregator_fixture.c
tests_unit_test_reserve_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_reserve_LDADD = libocservice.la $(CMOCKA_LIBS)

check_PROGRAMS += tests/unit/test_shim
tests_unit_test_shim_SOURCES = tests/unit/test_shim.c
tests_unit_test_shim_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_shim_LDADD = libocfaults.la libocmulticast.la $(CMOCKA_LIBS)

check_PROGRAMS += tests/unit/test_small
tests_unit_test_small_SOURCES = tests/unit/test_small.c \
	tests/unit/aggregator_fixture.h tests/unit/aggregator_fixture.c
tests_unit_test_small_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_small_LDADD = libocservice.la $(CMOCKA_LIBS) -lpthread

check_PROGRAMS += tests/unit/test_resend
tests_unit_test_resend_SOURCES = tests/unit/test_resend.c
tests_unit_test_resend_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_resend_LDADD = libocclient.la $(CMOCKA_LIBS) -lpthread

check_PROGRAMS += tests/unit/test_large_memory
tests_unit_test_large_memory_SOURCES = tests/unit/test_large_memory.c
tests_unit_test_large_memory_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_large_memory_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=calloc
tests_unit_test_large_memory_LDADD = libocclient.la $(CMOCKA_LIBS) -lpthread

check_PROGRAMS += tests/unit/test_channel
tests_unit_test_channel_SOURCES = tests/unit/test_channel.c server/daemon/channel.h server/daemon/channel.c
tests_unit_test_channel_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_channel_LDADD = libocbase.la $(CMOCKA_LIBS)

check_PROGRAMS += tests/unit/test_job_cgroup
tests_unit_test_job_cgroup_SOURCES = tests/unit/test_job_cgroup.c \
	server/daemon/cgroup.h server/daemon/cgroup.c server/daemon/cgroup_text.h server/daemon/cgroup_text.c \
	server/daemon/job_cgroup.h server/daemon/job_cgroup.c
tests_unit_test_job_cgroup_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_job_cgroup_LDADD = libocbase.la $(CMOCKA_LIBS)

check_PROGRAMS += tests/unit/test_job_process
tests_unit_test_job_process_SOURCES = tests/unit/test_job_process.c \
	server/daemon/channel.h server/daemon/channel.c server/daemon/job_process.h server/daemon/job_process.c
tests_unit_test_job_process_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_job_process_LDADD = libocnet.la libocprotocol.la libocbase.la $(CMOCKA_LIBS)

check_PROGRAMS += tests/unit/test_mailbox
tests_unit_test_mailbox_SOURCES = tests/unit/test_mailbox.c
tests_unit_test_mailbox_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_mailbox_LDADD = libocservice.la $(CMOCKA_LIBS)

check_PROGRAMS += tests/unit/test_timeline
tests_unit_test_timeline_SOURCES = tests/unit/test_timeline.c
tests_unit_test_timeline_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_timeline_LDADD = libocbase.la $(CMOCKA_LIBS)

check_PROGRAMS += tests/unit/test_transports
tests_unit_test_transports_SOURCES = tests/unit/test_transports.c
tests_unit_test_transports_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS) $(UCX_CFLAGS)
tests_unit_test_transports_LDADD = libocucx.la libocbase.la $(CMOCKA_LIBS) -lpthread

check_PROGRAMS += tests/unit/test_mappings
tests_unit_test_mappings_SOURCES = tests/unit/test_mappings.c
tests_unit_test_mappings_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS) $(UCX_CFLAGS)
tests_unit_test_mappings_LDADD = libocucx.la libocbase.la $(CMOCKA_LIBS)

check_PROGRAMS += tests/unit/test_worker
tests_unit_test_worker_SOURCES = tests/unit/test_worker.c
tests_unit_test_worker_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS) $(UCX_CFLAGS)
tests_unit_test_worker_LDFLAGS = -Wl,--export-dynamic-symbol=send
tests_unit_test_worker_LDADD = libocucx.la libocnet.la libocbase.la $(CMOCKA_LIBS) -lpthread

check_PROGRAMS += tests/unit/test_cgroup_text
tests_unit_test_cgroup_text_SOURCES = tests/unit/test_cgroup_text.c \
	server/daemon/cgroup_text.h server/daemon/cgroup_text.c
tests_unit_test_cgroup_text_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_cgroup_text_LDADD = $(CMOCKA_LIBS)

check_PROGRAMS += tests/unit/test_configuration
tests_unit_test_configuration_SOURCES = tests/unit/test_configuration.c \
	server/daemon/configuration.h server/daemon/configuration.c
tests_unit_test_configuration_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS) $(INIH_CFLAGS)
tests_unit_test_configuration_LDADD = libocbase.la $(CMOCKA_LIBS) $(INIH_LIBS)

check_PROGRAMS += tests/unit/test_perf_values
tests_unit_test_perf_values_SOURCES = tests/unit/test_perf_values.c \
	tools/perf/types.h tools/perf/types.c tools/perf/values.h tools/perf/values.c
tests_unit_test_perf_values_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_perf_values_LDADD = $(CMOCKA_LIBS)

check_PROGRAMS += tests/unit/test_perf_options
tests_unit_test_perf_options_SOURCES = tests/unit/test_perf_options.c \
	tools/perf/arguments.h tools/perf/arguments.c \
	tools/perf/layout.h tools/perf/layout.c tools/perf/perf_options.h tools/perf/perf_options.c \
	tools/perf/types.h tools/perf/types.c
tests_unit_test_perf_options_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_perf_options_LDADD = libocbase.la $(CMOCKA_LIBS)

check_PROGRAMS += tests/unit/test_tune_decision
tests_unit_test_tune_decision_SOURCES = tests/unit/test_tune_decision.c \
	tools/tune/decision.h tools/tune/decision.c
tests_unit_test_tune_decision_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_tune_decision_LDADD = $(CMOCKA_LIBS)

check_PROGRAMS += tests/unit/test_tune_rules
tests_unit_test_tune_rules_SOURCES = tests/unit/test_tune_rules.c \
	tools/perf/file.h tools/perf/file.c \
	tools/tune/decision.h tools/tune/decision.c tools/tune/merge.h tools/tune/merge.c \
	tools/tune/rules_file.h tools/tune/rules_file.c tools/tune/rule.h tools/tune/rule.c
tests_unit_test_tune_rules_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_tune_rules_LDADD = libocbase.la $(CMOCKA_LIBS)

check_PROGRAMS += tests/unit/test_tune_options
tests_unit_test_tune_options_SOURCES = tests/unit/test_tune_options.c \
	tools/perf/arguments.h tools/perf/arguments.c tools/perf/types.h tools/perf/types.c \
	tools/tune/tune_options.h tools/tune/tune_options.c
tests_unit_test_tune_options_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_tune_options_LDADD = libocbase.la $(CMOCKA_LIBS)

check_PROGRAMS += tests/unit/test_perf_wire
tests_unit_test_perf_wire_SOURCES = tests/unit/test_perf_wire.c \
	tools/perf/wire.h tools/perf/wire.c
tests_unit_test_perf_wire_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_perf_wire_LDADD = $(CMOCKA_LIBS)

check_PROGRAMS += tests/unit/test_crc32c
tests_unit_test_crc32c_SOURCES = tests/unit/test_crc32c.c
tests_unit_test_crc32c_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_crc32c_LDADD = libocclient.la $(CMOCKA_LIBS)

check_PROGRAMS += tests/unit/test_interface
tests_unit_test_interface_SOURCES = tests/unit/test_interface.c tests/unit/own_network.h
tests_unit_test_interface_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_interface_LDADD = libocclient.la $(CMOCKA_LIBS)

check_PROGRAMS += tests/unit/test_multicast_address
tests_unit_test_multicast_address_SOURCES = tests/unit/test_multicast_address.c
tests_unit_test_multicast_address_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_multicast_address_LDADD = libocclient.la $(CMOCKA_LIBS)

check_PROGRAMS += tests/unit/test_verbs_origin
tests_unit_test_verbs_origin_SOURCES = tests/unit/test_verbs_origin.c
tests_unit_test_verbs_origin_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_verbs_origin_LDADD = libocmulticast.la $(CMOCKA_LIBS)

check_PROGRAMS += tests/unit/test_verbs_membership
tests_unit_test_verbs_membership_SOURCES = tests/unit/test_verbs_membership.c
tests_unit_test_verbs_membership_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_verbs_membership_LDADD = libocmulticast.la $(CMOCKA_LIBS)

check_PROGRAMS += tests/unit/test_senders
tests_unit_test_senders_SOURCES = tests/unit/test_senders.c
tests_unit_test_senders_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_senders_LDADD = libocmulticast.la $(CMOCKA_LIBS)

check_PROGRAMS += tests/unit/test_stage
tests_unit_test_stage_SOURCES = tests/unit/test_stage.c
tests_unit_test_stage_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_stage_LDADD = libocstaging.la $(CMOCKA_LIBS)

check_PROGRAMS += tests/unit/test_udp
tests_unit_test_udp_SOURCES = tests/unit/test_udp.c tests/unit/own_network.h
tests_unit_test_udp_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_udp_LDADD = libocclient.la $(CMOCKA_LIBS)

check_PROGRAMS += tests/unit/test_filter
tests_unit_test_filter_SOURCES = tests/unit/test_filter.c
tests_unit_test_filter_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_filter_LDADD = libocnet.la libocbase.la $(CMOCKA_LIBS)

check_PROGRAMS += tests/unit/test_admission
tests_unit_test_admission_SOURCES = tests/unit/test_admission.c tests/unit/own_network.h
tests_unit_test_admission_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS) $(UCX_CFLAGS)
tests_unit_test_admission_LDADD = libocucx.la libocnet.la libocbase.la $(CMOCKA_LIBS) -lpthread
tests_unit_test_admission_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=calloc -Wl,--wrap=malloc \
	-Wl,--wrap=realloc -Wl,--wrap=ucp_worker_create
endif
