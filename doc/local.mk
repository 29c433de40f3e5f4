# SPDX-License-Identifier: BSD-3-Clause
dist_man_MANS += doc/optcast_mpi_type.3 doc/optcast_mpi_op.3 doc/optcast-server.8 doc/optcast-info.1 doc/optcast-perf.1 doc/optcast-timeline.1 doc/optcast-tune.1
# an example; the administrator's own file is never touched
dist_doc_DATA = doc/rules.ini
EXTRA_DIST += README.md NEWS CONTRIBUTING.md LICENSE SECURITY.md doc/administrator.md doc/architecture.md doc/multicast.md doc/protocol.md \
	doc/settings.md doc/testing.md doc/user-guide.md .clang-format

# Writes to the source tree.
SETTINGS_PAGES = settings.md optcast-server.8 optcast-info.1
.PHONY: settings-pages
settings-pages: tools/settings-pages
	for page in $(SETTINGS_PAGES); do \
		tools/settings-pages <$(srcdir)/doc/$$page >tools/$$page.new && mv tools/$$page.new $(srcdir)/doc/$$page || exit 1; \
	done
