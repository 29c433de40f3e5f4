# shellcheck shell=sh
# SPDX-License-Identifier: BSD-3-Clause
# Owns the way from a source tree to a build tree, for quickstart and run-tests.
# To be sourced after REPO (the source tree) is set.

# default_build: the folder that is built in. A source tree that was configured in place keeps
# configure from building it anywhere else.
default_build() {
    if [ -e "$REPO/config.status" ]; then
        echo "$REPO"
    else
        echo "$REPO/build"
    fi
}

# build_jobs: how many jobs make runs beside each other: the processors that this process may use. nproc
# alone prints what a user's OpenMP programs may use, which is often set to 1.
build_jobs() {
    env -u OMP_NUM_THREADS -u OMP_THREAD_LIMIT nproc
}

# build_tree DIRECTORY [CONFIGURE_OPTION...]: what is missing of autogen, configure and make.
# Configured as it was before, if it was. BUILD_TARGETS in the environment: no more than these.
build_tree() (
    directory=$1
    shift
    if [ -e "$REPO/config.status" ] && [ "$directory" != "$REPO" ]; then
        echo "$REPO is configured in place, and so cannot be built in $directory: run make distclean first" >&2
        return 1
    fi
    cd "$REPO" || return 1
    if [ ! -x configure ]; then
        ./autogen.sh || return 1
    fi
    mkdir -p "$directory" && cd "$directory" || return 1
    if [ ! -e config.status ] || [ ! -e Makefile ]; then
        "$REPO/configure" "$@" || return 1
    fi
    # shellcheck disable=SC2086 # a list
    make -j"$(build_jobs)" ${BUILD_TARGETS-}
)
