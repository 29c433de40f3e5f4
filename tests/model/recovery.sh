#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Owns the short searches of the model of recovery: the protocol is right, and each of its rules is needed.
# usage: recovery.sh [--few]; --few: only what is built, and its rules
# Test: default 300 -- --few; all 900
set -eu

# shellcheck source=tests/model/lib.sh
. "$(dirname "$0")/lib.sh"

begin_model recovery
checker=(-DSAFETY -DNOREDUCE -DCOLLAPSE -DVECTORSZ=2048 -DMEMLIM=4000)

# right MACRO[=VALUE]...: no step goes wrong, and nobody waits for ever.
right() {
    search "$@"
    expect_end
    echo "right: $*: $states states"
}

# wrong CHECK WHAT MACRO[=VALUE]...: without the rule it may happen: the search ends in the model's check that nobody
# lacks a result that all are said to have, that what all have issued ends, that no damaged contribution is sent, or
# that no buffer is written to after return.
wrong() {
    local what=$2 check

    case $1 in
    lacks) check='assertion violated \(have\[' ;;
    waits) check='assertion violated \(+st\[.*==2\)' ;;
    damaged) check='assertion violated +!\(\(hurt\[' ;;
    written) check='assertion violated \((late|wire)\[' ;;
    esac
    shift 2
    search "$@"
    expect_error "$what: $*"
    grep -Eq "$check" "$tmp/out" || not_ok "another check fails than that for: $what: $*" "$tmp/out"
    echo "refuted: $*: $what"
}

# what is built
right WATCH FORGET ACKALL=0 K=1 C=2
right WATCH FORGET ACKALL=0 INFLIGHT C=1 DEATHS=2
right WATCH FORGET K=1 OPS=2 SMALLS=3

wrong waits "a rank that has ended is not heard" INFLIGHT SETTLEFEW WATCH K=1 C=1
wrong lacks "a rank that got no result, and returned, stands for one that knows that all have theirs" TO_ROOT EARLY VICTIMS=1 C=2
wrong lacks "a rank that had its results, and returned, stands for one that knows that all have theirs" TO_BLOCKS EARLY VICTIMS=1 C=2
wrong written "a buffer is written to after return" KEEPWORKER
wrong damaged "a contribution is half a result" INPLACE NOBOUNCE
wrong waits "a small message is dropped that another rank needs" LANERELEASE WATCH K=1 OPS=2 SMALLS=3
wrong waits "a small message is gone that another rank needs" NOKEEP WATCH K=1 SMALLS=1

if [ "${1:-}" = --few ]; then
    echo "ok recovery: what is built is right, and each of its rules is needed"
    exit 0
fi

right VICTIMS=1 SUSPECTS=1 C=2
right VICTIMS=1 SUSPECTS=2 C=1
right WATCH K=1 C=2 DEATHS=1 SUSPECTS=1
right EMBWITNESS DEATHS=2 C=1
right WATCH K=1 OPS=2 SMALLS=3
right WATCH K=1 N=3 C=1 SMALLS=1 SUSPECTS=1
right TO_ROOT VICTIMS=1 SUSPECTS=1 C=2
right TO_BLOCKS VICTIMS=1 SUSPECTS=1 C=2
right INFLIGHT VICTIMS=1 SUSPECTS=1 C=1
right INFLIGHT TO_BLOCKS VICTIMS=1 C=2
right INFLIGHT TO_ROOT WATCH K=1 C=2 SUSPECTS=1
right INFLIGHT WATCH C=1 DEATHS=2

wrong lacks "what a dead server knew nobody knows" ACKALL=0 VICTIMS=1 C=2
wrong lacks "a rank is told that it has what it lacks" ACKALL=0 TRUSTPART C=2
wrong waits "a result that somebody has does not reach the others" NOSUPPLY VICTIMS=1 C=2
wrong waits "servers forget who has everything" FORGET C=2
wrong waits "the server that committed dies, and the other one has no ACK" ANYCOMMIT C=2
wrong waits "the only server that committed dies" OWNERSONLY C=1
wrong waits "a new server waits for a rank that has returned" OWNERSONLY NOCERT K=3 C=2
wrong waits "rank 0 leaves before it has settled" COORD0
wrong waits "two ranks are apart for ever" EPOCHNUM DEATHS=0 SUSPECTS=2 LEAVES=0
# without WATCH
wrong waits "a rank that left has the small message that another one needs" SMALLS=1
wrong waits "a rank that left has what another one needs, and there was one server" K=1
wrong waits "a rank that left has what another one needs, and all servers die" DEATHS=2
echo "ok recovery: the protocol is right, and every variant is refuted"
