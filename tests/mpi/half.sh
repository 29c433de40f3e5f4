#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Owns the test of the 16-bit floats of <optcast/mpi.h>, with and without the component.
# Test: default 120; mpich: default 120; sanitizers: all 180
set -eu

# shellcheck source=tests/mpi/lib.sh
. "$(dirname "$0")/lib.sh"

begin_mpi_test half
compile_program half "$here/half.c" -I"$REPO" -L"$BUILD/.libs" -Wl,-rpath,"$BUILD/.libs" \
    "$half_library" -lpthread

TIME_LIMIT=${TIME_LIMIT:-60}
expect_job offloaded 4 embedded:2 connect_timeout=30 chunk_size=4096 small_size=64 half offloaded
run_mpi 4 none "${mpirun_arguments[@]}" "$programs/half" plain >"$tmp/plain.log" 2>&1 ||
    not_ok "without the component" "$tmp/plain.log"

# programs that contain what others are linked with, on every second rank: all find the same
compile_program half-contains "$here/half.c" "$REPO/optcast/datatypes.c" "$REPO/optcast/mpi_handles.c" \
    "$REPO/optcast/operations.c" -I"$REPO" -I"$BUILD" -DHAVE_CONFIG_H -fvisibility=hidden -lpthread
cat >"$programs/half-either" <<END
#!/bin/sh
[ \$((${rank_variable} % 2)) = 0 ] || exec "$programs/half-contains" "\$@"
exec "$programs/half" "\$@"
END
chmod +x "$programs/half-either"
expect_job contained 4 embedded:2 connect_timeout=30 chunk_size=4096 small_size=64 half-either offloaded
! nm -D "$programs/half-contains" | grep -q optcast_mpi_float16_sum || not_ok "the program exports what it contains"

# an operation on the other format is refused, with the component too; a launcher may lose what is said before MPI_Abort
cat >"$tmp/half-mixed" <<END
#!/bin/sh
exec "$programs/half" mixed 2>>"$tmp/mixed.err"
END
chmod +x "$tmp/half-mixed"
for mode in none always; do
    : >"$tmp/mixed.err"
    if run_mpi 2 "$mode" "${mpirun_arguments[@]}" "$tmp/half-mixed" >"$tmp/mixed.log" 2>&1; then
        not_ok "mode $mode: formats can be mixed" "$tmp/mixed.log"
    fi
    has_line "$tmp/mixed.err" '^optcast: an operation of optcast_float16 on datatype "optcast_bfloat16"' ||
        not_ok "mode $mode: formats are mixed without a word" "$tmp/mixed.log"
done
echo "ok half: offloaded, and without the component"
