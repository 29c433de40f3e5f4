#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Owns the search of the model of hosts that lose a server: their ranks have what owners had, and begin anew together.
# Test: quick 60
set -eu

# shellcheck source=tests/model/lib.sh
. "$(dirname "$0")/lib.sh"

begin_model host
for members in 2 3; do
    search MEMBERS="$members" STEPS=$((5 - members))
    expect_end
    echo "$members members: $states states"
done
search ORDER
expect_error "a result behind one that was lost is not read"
grep -q 'assertion violated .*acked' "$tmp/out" || not_ok "another check fails without results behind a lost one" "$tmp/out"
for rule in EARLY NOLEAVE; do
    search "$rule"
    expect_error "a member begins anew too early: $rule"
done
echo "ok host: $states states, and nobody lacks what an owner had"
