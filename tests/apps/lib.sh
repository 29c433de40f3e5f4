# shellcheck shell=sh
# SPDX-License-Identifier: BSD-3-Clause
# Owns the mpirun command line that quickstart and the application tests share, and reading its summary.
# To be sourced at the beginning of a test. Sets here (the folder of the test), and unless they are set REPO (the
# source tree) and BUILD (the build tree).

here=$(cd "$(dirname "$0")" && pwd)
REPO=${REPO:-$(cd "$here/../.." && pwd)}
BUILD=${BUILD:-$REPO/build}

# shellcheck source=tests/lib.sh
. "$REPO/tests/lib.sh"

case $BUILD in
/*) ;;
*) BUILD=$PWD/$BUILD ;;
esac
component_dir=$BUILD/ompi/mca/coll/optcast/.libs
mpich_library=$BUILD/.libs/liboptcast-mpich.so
# Debian's Python: it is the one that has the packaged mpi4py.
PYTHON=${PYTHON:-/usr/bin/python3}
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export PRTE_ALLOW_RUN_AS_ROOT=1 PRTE_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1

# The name of Open MPI's mpirun: where several MPIs are installed, plain mpirun may be another one's.
find_mpirun() {
    for candidate in ${MPIRUN:+"$MPIRUN"} mpirun mpirun.openmpi; do
        if "$candidate" --version 2>/dev/null | grep -q 'Open MPI'; then
            echo "$candidate"
            return 0
        fi
    done
    return 1
}

# The name of MPICH's mpiexec.
find_mpiexec() {
    for candidate in ${MPIEXEC:+"$MPIEXEC"} mpiexec.mpich mpiexec.hydra mpiexec; do
        if "$candidate" --version 2>/dev/null | grep -q 'HYDRA'; then
            echo "$candidate"
            return 0
        fi
    done
    return 1
}

# The name of the compiler of that MPICH, unless MPICHCC says one: programs of one MPICH may not start under another.
find_mpichcc() {
    path=$(command -v "$mpiexec") || return 1
    for candidate in ${MPICHCC:+"$MPICHCC"} "${path%/*}/mpicc.mpich" "${path%/*}/mpicc"; do
        if "$candidate" -show 2>/dev/null | grep -q mpich; then
            echo "$candidate"
            return 0
        fi
    done
    return 1
}

# True if the component is built.
have_component() {
    [ -e "$component_dir/mca_coll_optcast.so" ]
}

# True if Python has the modules the training needs.
have_python_modules() {
    "$PYTHON" -c 'import sys
from importlib.util import find_spec
sys.exit(not all(map(find_spec, ("mpi4py", "numpy", "sklearn"))))' 2>/dev/null
}

# run_mpi RANKS MODE PROGRAM [ARGUMENT...]: MODE is a coll_optcast_mode, or none for a run without the component.
# Takes at most TIME_LIMIT seconds (exit status 124).
run_mpi() {
    ranks=$1
    mode=$2
    shift 2
    if [ "$mode" = none ]; then
        set -- --mca coll ^optcast "$@"
    else
        set -- -x "OMPI_MCA_mca_base_component_path=$component_dir:SYSTEM_DEFAULT" \
            --mca coll_optcast_mode "$mode" --mca coll_optcast_verbose 1 "$@"
    fi
    set -- "$mpirun" --oversubscribe -np "$ranks" "$@"
    if [ -n "${SHOW_COMMAND:-}" ]; then
        echo "$*"
    fi
    timeout --foreground -k 10 "${TIME_LIMIT:-120}" "$@" </dev/null
}

# run_training RANKS MODE [ARGUMENT...]
run_training() {
    training_ranks=$1
    training_mode=$2
    shift 2
    run_mpi "$training_ranks" "$training_mode" "$PYTHON" -m mpi4py "$REPO/examples/train_digits.py" "$@"
}

# run_training_in_c RANKS MODE [ARGUMENT...]: with MPICH, and in $tmp what is compiled.
run_training_in_c() {
    training_ranks=$1
    training_mode=$2
    shift 2
    mpichcc=$(find_mpichcc) || { echo "no mpicc beside $mpiexec" >&2 && return 1; }
    "$mpichcc" -O2 -o "$tmp/train_digits" "$REPO/examples/train_digits.c" -lm &&
        write_digits "$tmp/digits.csv" || return 1
    set -- "$mpiexec" -n "$training_ranks" -env LD_PRELOAD "$mpich_library" -env OPTCAST_MODE "$training_mode" \
        -env OPTCAST_VERBOSE 1 "$tmp/train_digits" "$tmp/digits.csv" "$@"
    if [ -n "${SHOW_COMMAND:-}" ]; then
        echo "$*"
    fi
    timeout --foreground -k 10 "${TIME_LIMIT:-120}" "$@" </dev/null
}

# write_digits FILE: the images that scikit-learn brings along.
write_digits() {
    "$PYTHON" -c 'import sys
from sklearn.datasets import load_digits
images, digits = load_digits(return_X_y=True)
with open(sys.argv[1], "w", encoding="ascii") as file:
    for image, digit in zip(images, digits):
        file.write(",".join("%d" % pixel for pixel in (*image, digit)) + "\n")' "$1"
}

# offload_counts FILE: from the component's last summary in FILE print "OFFLOADED SENT RECEIVED FELLBACK",
# or nothing if there is none.
offload_counts() {
    sed -n -E 's/.*optcast: .* ([0-9]+) collectives offloaded, ([0-9]+) bytes sent, ([0-9]+) bytes received, ([0-9]+) fell back.*/\1 \2 \3 \4/p' \
        "$1" | tail -n 1
}

# offloaded_count FILE: the number of offloaded collectives, 0 if there is no summary.
offloaded_count() {
    # shellcheck disable=SC2046 # split on purpose
    set -- $(offload_counts "$1")
    echo "${1:-0}"
}

# final_accuracy FILE: the result that the training printed.
final_accuracy() {
    sed -n 's/^test accuracy \([0-9.]*\)$/\1/p' "$1" | tail -n 1
}

# compare_training RUN LEAST: in mode always it learns what it learns in mode never, and LEAST collectives or more are
# offloaded, and none in mode never. RUN RANKS MODE is run_training or run_training_in_c.
compare_training() {
    for mode in always never; do
        status=0
        "$1" 4 "$mode" >"$tmp/$mode.out" 2>"$tmp/$mode.err" || status=$?
        [ "$status" -eq 0 ] ||
            not_ok "the training ended with status $status in optcast mode $mode" "$tmp/$mode.out" "$tmp/$mode.err"
    done
    always=$(final_accuracy "$tmp/always.out")
    never=$(final_accuracy "$tmp/never.out")
    awk -v a="$always" -v b="$never" 'BEGIN { d = a - b; exit !(a >= 0.95 && b >= 0.95 && d <= 0.01 && d >= -0.01) }' ||
        not_ok "test accuracy is '$always' in mode always and '$never' in mode never: both must be 0.95 or more, and equal to 0.01"
    offloaded=$(offloaded_count "$tmp/always.err")
    [ "$offloaded" -ge "$2" ] ||
        not_ok "$offloaded collectives were offloaded in mode always, of at least $2" "$tmp/always.err"
    unwanted=$(offloaded_count "$tmp/never.err")
    [ "$unwanted" -eq 0 ] || not_ok "$unwanted collectives were offloaded in mode never" "$tmp/never.err"
    echo "ok $test_name: test accuracy $always, $never without offload; $offloaded collectives offloaded"
}

# begin_job_test NAME: as begin_test, of what needs mpirun and the component.
begin_job_test() {
    begin_test "$1"
    mpirun=$(find_mpirun) || skip "no mpirun of Open MPI in PATH; install openmpi-bin"
    have_component || not_ok "no $component_dir/mca_coll_optcast.so: run make in $BUILD, or set BUILD to the build tree"
}
