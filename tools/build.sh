# shellcheck shell=sh
# SPDX-License-Identifier: BSD-3-Clause
# Owns the way from a source tree to a build tree, for quickstart and run-tests.
# To be sourced after REPO (the source tree) is set.

# build_tree DIRECTORY [CONFIGURE_OPTION...]: what is missing of autogen, configure and make.
# Configured as it was before, if it was. BUILD_TARGETS in the environment: no more than these.
build_tree() (
    directory=$1
    shift
    cd "$REPO" || return 1
    if [ ! -x configure ]; then
        ./autogen.sh || return 1
    fi
    mkdir -p "$directory" && cd "$directory" || return 1
    if [ ! -e config.status ] || [ ! -e Makefile ]; then
        "$REPO/configure" "$@" || return 1
    fi
    # shellcheck disable=SC2086 # a list
    make -j"$(nproc)" ${BUILD_TARGETS-}
)
