# SPDX-License-Identifier: BSD-3-Clause
# Owns the build of the reduction kernels: one convenience library per instruction set, because
# each is compiled with flags of its own, and libocreduction.la which contains them all.

# No FMA contraction: every instruction set must give the same bits. Nobody asks for the exceptions
# that floats raise, and gcc does not vectorize comparisons of floats if somebody might.
OC_REDUCTION_CFLAGS = $(AM_CFLAGS) -O3 -ffp-contract=off -fno-trapping-math

noinst_LTLIBRARIES += libocreduction.la
libocreduction_la_SOURCES = \
	reduction/reduction.h \
	reduction/reduction.c \
	reduction/kernels.h \
	reduction/kernels.inc.h \
	reduction/kernels_complex.inc.h \
	reduction/kernels_half.inc.h \
	reduction/kernels_half_x86.inc.h \
	reduction/kernels_pair.inc.h \
	reduction/kernels_scalar.inc.h \
	reduction/kernels_baseline.c
libocreduction_la_CPPFLAGS = $(AM_CPPFLAGS)
libocreduction_la_CFLAGS = $(OC_REDUCTION_CFLAGS)
libocreduction_la_LIBADD =

if HAVE_AVX2
noinst_LTLIBRARIES += libocreduction_avx2.la
libocreduction_avx2_la_SOURCES = reduction/kernels_avx2.c
libocreduction_avx2_la_CPPFLAGS = $(AM_CPPFLAGS)
libocreduction_avx2_la_CFLAGS = $(OC_REDUCTION_CFLAGS) -mavx2 -mf16c
libocreduction_la_LIBADD += libocreduction_avx2.la
endif

if HAVE_AVX512
noinst_LTLIBRARIES += libocreduction_avx512.la
libocreduction_avx512_la_SOURCES = reduction/kernels_avx512.c
libocreduction_avx512_la_CPPFLAGS = $(AM_CPPFLAGS)
libocreduction_avx512_la_CFLAGS = $(OC_REDUCTION_CFLAGS) \
	-mavx512f -mavx512bw -mavx512dq -mavx512vl -mprefer-vector-width=512
libocreduction_la_LIBADD += libocreduction_avx512.la
endif
