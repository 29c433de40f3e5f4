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
# lacks a result that all are said to have, that what all have issued ends, that no damaged contribution is sent, that
# no buffer is written to after return, that somebody has what is to be given to all, or that nobody waits for a dead rank.
wrong() {
    local what=$2 check

    case $1 in
    lacks) check='assertion violated \(have\[' ;;
    waits) check='assertion violated \(+st\[' ;;
    damaged) check='assertion violated +!\(\(hurt\[' ;;
    nobody) check='assertion violated \(\(\(lacked\[' ;;
    dead) check='assertion violated \(\(died==0\)' ;;
    written) check='assertion violated \((late|wire)\[' ;;
    esac
    shift 2
    search "$@"
    expect_error "$what: $*"
    grep -Eq "$check" "$tmp/out" || not_ok "another check fails than that for: $what: $*" "$tmp/out"
    echo "refuted: $*: $what"
}

# what is built
optimize=-O0
built=(WATCH FORGET ACKALL=0)
right "${built[@]}" K=1 C=2
right "${built[@]}" INFLIGHT C=1 DEATHS=2
right "${built[@]}" K=1 OPS=2 SMALLS=3
right "${built[@]}" K=1 SPAN=1 LANERELEASE OPS=2 SMALLS=3
right "${built[@]}" INFLIGHT SAYCHUNKS TO_BLOCKS K=1 C=2
right "${built[@]}" INFLIGHT SAYCHUNKS TO_ROOT K=1 C=2
right "${built[@]}" INFLIGHT SPARE=2 K=2 C=1
right "${built[@]}" INFLIGHT RANKDEATHS=1 K=1 C=1
right "${built[@]}" INFLIGHT PARTS K=1 OPS=2 SMALLS=3 C=1

wrong waits "a rank that has ended is not heard" INFLIGHT SETTLEFEW WATCH K=1 C=1
wrong lacks "a rank that got no result, and returned, stands for one that knows that all have theirs" TO_ROOT EARLY VICTIMS=1 C=2
wrong lacks "a rank that had its results, and returned, stands for one that knows that all have theirs" TO_BLOCKS EARLY VICTIMS=1 C=2
wrong written "a buffer is written to after return" KEEPWORKER
wrong damaged "a contribution is half a result" INPLACE NOBOUNCE
wrong waits "a small message is dropped that another rank needs" LANERELEASE WATCH K=1 OPS=2 SMALLS=3
wrong waits "a small message is gone that another rank needs" NOKEEP WATCH K=1 SMALLS=1
wrong waits "a small message is dropped, and its operation may run beside the one that is taken for proof" \
    "${built[@]}" LANERELEASE SPANRELEASE=2 K=1 C=1 OPS=3 SMALLS=7 LEAVES=0
wrong nobody "a rank that gets no result says that it has it" "${built[@]}" INFLIGHT SAYCHUNKS SAYHAVE TO_ROOT K=1 C=2
wrong waits "ranks differ in whether a server is back" "${built[@]}" OWNSIGHT SPARE=2 K=2 C=1
wrong waits "a rank leaves a group of which another one needs a result" "${built[@]}" PARTS K=1 OPS=1 SMALLS=1
wrong waits "the last Barrier does not show that a rank has ended what was before" "${built[@]}" PARTS PARTEARLY K=1 C=1 OPS=2 SMALLS=3

if [ "${1:-}" = --few ]; then
    echo "ok recovery: what is built is right, and each of its rules is needed"
    exit 0
fi

optimize=-O2
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
right "${built[@]}" K=2 C=2 SPARE=2
right "${built[@]}" INFLIGHT SPARE=2 K=2 N=3 C=1 LEAVES=0
right "${built[@]}" SPARE=4 K=3 C=1 DEATHS=2 LEAVES=0
right "${built[@]}" SPARE=6 TWINS K=3 C=1 DEATHS=2 VICTIMS=3 DECIDERS=3 LEAVES=0
right "${built[@]}" INFLIGHT SPARE=2 PARTS K=2 OPS=2 SMALLS=3 LEAVES=0
right "${built[@]}" INFLIGHT RANKDEATHS=1 MAKEFIRST K=2 C=1
right "${built[@]}" INFLIGHT PARTS K=1 OPS=2 SMALLS=2 C=2
right "${built[@]}" INFLIGHT PARTS IMPATIENT LEAVESAYS K=2 OPS=2 SMALLS=3 C=1
right "${built[@]}" K=1 C=1 SPAN=2 LANERELEASE SPANRELEASE=2 OPS=3 SMALLS=7 LEAVES=0

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
# what is built, and can go wrong: recovery.md has the traces
wrong dead "a rank dies that has said BYE, and not yet HELLO" "${built[@]}" INFLIGHT RANKDEATHS=1 K=2 C=1
wrong dead "a rank dies, then the only server that had to notice, and ranks that aggregate did not know it" \
    "${built[@]}" INFLIGHT RANKDEATHS=1 PEERS=1 K=1 C=1
wrong waits "a rank takes others for gone, which have just joined" "${built[@]}" INFLIGHT PARTS IMPATIENT K=1 OPS=2 SMALLS=3 C=1
wrong waits "a rank takes others for gone, and the only server that knows it dies" \
    "${built[@]}" INFLIGHT PARTS IMPATIENT LEAVESAYS K=2 DEATHS=2 OPS=2 SMALLS=3 C=1
echo "ok recovery: the protocol is right, and every variant is refuted"
