#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Owns the test that ompi_info shows users what they set, and more only if they ask for it, and that the documentation has
# what the tables of settings have.
# Test: default 60; openmpi5: all 60
set -eu

# shellcheck source=tests/tools/lib.sh
. "$(dirname "$0")/lib.sh"

# shellcheck disable=SC2154 # tmp is set by begin_test, component_dir by begin_job_test
begin_mpi_tool_test settings optcast-info

# shown OPTION...: the settings that ompi_info lists with these, sorted, in one line.
shown() {
    OMPI_MCA_mca_base_component_path=$component_dir "$OMPI_INFO" --param coll optcast --parsable "$@" >"$tmp/out" 2>&1 ||
        not_ok "ompi_info ends with an error" "$tmp/out"
    sed -n -E 's/^mca:coll:optcast:param:coll_optcast_([a-z_]+):value:.*/\1/p' "$tmp/out" | sort | paste -s -d ' '
}

[ "$(shown)" = 'mode multicast rules servers verbose' ] || not_ok "the first level is not what users set" "$tmp/out"
[[ " $(shown --level 3) " == *' reproducible '* ]] || not_ok "level 3 lacks something" "$tmp/out"
[[ " $(shown --level 3) " != *' window '* ]] || not_ok "level 3 has what is for tuning" "$tmp/out"
[[ " $(shown --level 5) " == *' window '* ]] || not_ok "level 5 lacks what is for tuning" "$tmp/out"
all=$(shown --level 9)
described=$(sed -n '/^## MCA/,/^## /s/^| `\([a-z_]*\)` | .*/\1/p' "$REPO/doc/settings.md" | sort | paste -s -d ' ')
[ "$all" = "$described" ] || not_ok "doc/settings.md describes $described, and these are there: $all"

# generated PAGE SECTION...: the page has these sections, and they are as the tables of settings say.
generated() {
    local page=$1 section

    for section in "${@:2}"; do
        grep -q "settings-pages: $section\b" "$REPO/doc/$page" || not_ok "doc/$page has no section $section"
    done
    "$BUILD/tools/settings-pages" <"$REPO/doc/$page" >"$tmp/page" 2>"$tmp/err" ||
        not_ok "settings-pages does not understand doc/$page" "$tmp/err"
    diff "$REPO/doc/$page" "$tmp/page" >"$tmp/diff" ||
        not_ok "doc/$page is not what the tables say: run make settings-pages" "$tmp/diff"
}

generated settings.md jobs servers
generated optcast-server.8 synopsis options
generated optcast-info.1 parameters

# What rank 0's value counts for, the others take over from its record.
first=$(sed -n '/^## MCA/,/^## /s/^| `\([a-z_]*\)` |.*| rank 0 |.*/\1/p' "$REPO/doc/settings.md" | sort | paste -s -d ' ')
adopted=$(sed -n 's/^    X(\([a-z_]*\), [a-z_]*).*/\1/p' "$REPO/adapter/terms.c" |
    sort | paste -s -d ' ')
[ -n "$first" ] && [ "$first" = "$adopted" ] || not_ok "rank 0 decides about $first, and ranks take over $adopted"

# A page that is not marked as it should be is refused.
for page in 'settings-pages: jobs' 'settings-pages: end' 'settings-pages: nothing'; do
    ends 1 "$BUILD/tools/settings-pages" <<<"$page"
done
echo "ok settings"
