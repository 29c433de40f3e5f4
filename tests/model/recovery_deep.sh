#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Owns the long searches of the model of recovery: more ranks, servers and operations.
# Test: all 1800
set -eu

# shellcheck source=tests/model/lib.sh
. "$(dirname "$0")/lib.sh"

begin_model recovery
checker=(-DSAFETY -DNOREDUCE -DCOLLAPSE -DVECTORSZ=2048 -DMEMLIM=8000)

# right MACRO[=VALUE]...: no step goes wrong, and nobody waits for ever.
right() {
    search "$@"
    expect_end
    echo "right: $*: $states states"
}

right K=3 C=1 DEATHS=2
right K=3 C=1 DEATHS=1 SUSPECTS=1
right N=3 C=1 VICTIMS=1 SUSPECTS=1 LEAVES=2
right OWNERSONLY K=3 C=2
right OPS=2 C=1
right WATCH C=1 DEATHS=2 SUSPECTS=1
right WATCH N=3 C=1 DEATHS=2
right WATCH K=1 OPS=2 C=1 SMALLS=1
right WATCH OPS=2 SMALLS=3 DEATHS=2
right WATCH ACKALL=0 C=2 DEATHS=2
right WATCH FORGET ACKALL=0 C=2 SUSPECTS=1
right WATCH FORGET ACKALL=0 C=2 DEATHS=2
right WATCH FORGET ACKALL=0 N=3 C=1 SUSPECTS=1
right INFLIGHT K=3 C=1 DEATHS=2
right OWNERSONLY K=3 C=1 SUSPECTS=1
right INFLIGHT OWNERSONLY K=3 C=1
right INFLIGHT WATCH K=1 OPS=2 SMALLS=3
right INFLIGHT TO_BLOCKS VICTIMS=1 SUSPECTS=1 C=2
right TO_BLOCKS N=3 C=3 VICTIMS=1 LEAVES=2
right TO_ROOT OPS=2 C=1 VICTIMS=1
right WATCH FORGET ACKALL=0 INFLIGHT SAYCHUNKS K=2 C=2 SPARE=2
right WATCH FORGET ACKALL=0 INFLIGHT SPARE=2 K=2 C=1 SUSPECTS=1
right WATCH FORGET ACKALL=0 INFLIGHT SPARE=4 K=3 C=1 VICTIMS=1
right WATCH FORGET ACKALL=0 SPARE=2 K=2 OPS=2 SMALLS=3 LEAVES=0
right WATCH FORGET ACKALL=0 INFLIGHT RANKDEATHS=1 MAKEFIRST SPARE=2 K=2 C=1
echo "ok recovery_deep: the protocol is right"
