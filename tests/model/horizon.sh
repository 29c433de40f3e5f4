#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Owns the search of the model of horizons: ranks that look at each side's chunks in flight do not wait for each other,
# and those that look at both sides' together do.
# Test: quick 60
set -eu

# shellcheck source=tests/model/lib.sh
. "$(dirname "$0")/lib.sh"

begin_model horizon
for pause in 1 2 3 100; do
    search RULE=1 PAUSE="$pause"
    expect_end
done
search RULE=0 PAUSE=3
grep -q 'invalid end state' "$tmp/out" || not_ok "with the other rule the search finds nothing" "$tmp/out"
echo "ok horizon: $states states, and nobody waits for ever"
