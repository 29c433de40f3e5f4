#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Owns the search of the model of shared reserves: with its rule nobody waits for ever, and without
# it somebody does.
# Test: default 120
set -eu

# shellcheck source=tests/model/lib.sh
. "$(dirname "$0")/lib.sh"

begin_model reserve
search RULE=1
expect_end
search RULE=0
grep -q 'invalid end state' "$tmp/out" || not_ok "without the rule the search finds nothing" "$tmp/out"
echo "ok reserve: $states states, and nobody waits for ever"
