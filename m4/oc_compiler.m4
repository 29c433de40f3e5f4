dnl SPDX-License-Identifier: BSD-3-Clause
# OC_COMPILER_FLAGS: language level, warnings, --enable-werror, --enable-sanitizers, --enable-checks.
# Sets OC_CFLAGS (all our code), OC_SANITIZER_CFLAGS, oc_sanitizers, oc_checks.
AC_DEFUN([OC_COMPILER_FLAGS], [
  OC_CFLAGS="-std=gnu11 -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wpointer-arith"
  # texts for people are cut at the size of their buffers, on purpose
  OC_CFLAGS="$OC_CFLAGS -fvisibility=hidden -ffp-contract=off -Wno-format-truncation"
  AC_ARG_ENABLE([werror],
    [AS_HELP_STRING([--enable-werror], [treat warnings as errors])], [], [enable_werror=no])
  AS_IF([test "$enable_werror" = yes], [OC_CFLAGS="$OC_CFLAGS -Werror"])
  AC_ARG_ENABLE([sanitizers],
    [AS_HELP_STRING([--enable-sanitizers@<:@=LIST@:>@],
      [build with sanitizers, for tests (default LIST: address,undefined)])],
    [], [enable_sanitizers=no])
  AS_CASE([$enable_sanitizers],
    [no], [OC_SANITIZER_CFLAGS=],
    [yes], [OC_SANITIZER_CFLAGS="-fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer"],
    [OC_SANITIZER_CFLAGS="-fsanitize=$enable_sanitizers -fno-omit-frame-pointer"])
  oc_sanitizers=$enable_sanitizers
  AS_IF([test -n "$OC_SANITIZER_CFLAGS"], [
    oc_save_CFLAGS=$CFLAGS
    CFLAGS="$CFLAGS $OC_SANITIZER_CFLAGS"
    AC_MSG_CHECKING([whether $CC links with $OC_SANITIZER_CFLAGS])
    AC_LINK_IFELSE([AC_LANG_PROGRAM([], [])], [AC_MSG_RESULT([yes])],
      [AC_MSG_RESULT([no])
       AC_MSG_ERROR([--enable-sanitizers=$enable_sanitizers does not work with $CC: install its sanitizer runtime or leave the option out])])
    CFLAGS=$oc_save_CFLAGS
    OC_CFLAGS="$OC_CFLAGS $OC_SANITIZER_CFLAGS"
  ])
  OC_INVARIANT_CHECKS
  AC_SUBST([OC_CFLAGS])
  AC_SUBST([OC_SANITIZER_CFLAGS])
])

# OC_INVARIANT_CHECKS: --enable-checks, see base/check.h.
AC_DEFUN([OC_INVARIANT_CHECKS], [
  AC_ARG_ENABLE([checks],
    [AS_HELP_STRING([--enable-checks],
      [check invariants at run time, for tests (default: with --enable-sanitizers)])],
    [], [AS_IF([test "$oc_sanitizers" = no], [enable_checks=no], [enable_checks=yes])])
  AS_IF([test "$enable_checks" = no],
    [oc_checks=off
     OC_CFLAGS="$OC_CFLAGS -DNDEBUG"],
    [oc_checks=on
     OC_CFLAGS="$OC_CFLAGS -DOC_CHECKED"])
])

# OC_CHECK_ISA: which vector extensions the compiler can build kernels for.
AC_DEFUN([OC_CHECK_ISA], [
  oc_isa=baseline
  OC_TRY_ISA([avx2], [AVX2], [-mavx2 -mf16c])
  OC_TRY_ISA([avx512], [AVX512], [-mavx512f -mavx512bw -mavx512dq -mavx512vl])
])

# OC_TRY_ISA(name, NAME, flags)
AC_DEFUN([OC_TRY_ISA], [
  oc_save_CFLAGS=$CFLAGS
  CFLAGS="$CFLAGS $3"
  AC_MSG_CHECKING([whether $CC builds $1 kernels])
  AC_COMPILE_IFELSE([AC_LANG_PROGRAM([[#include <immintrin.h>]],
    [[return !__builtin_cpu_supports("avx2");]])], [oc_isa_$1=yes], [oc_isa_$1=no])
  AC_MSG_RESULT([$oc_isa_$1])
  CFLAGS=$oc_save_CFLAGS
  AM_CONDITIONAL([HAVE_$2], [test "$oc_isa_$1" = yes])
  AS_IF([test "$oc_isa_$1" = yes], [
    oc_isa="$oc_isa $1"
    AC_DEFINE([OPTCAST_HAVE_$2], [1], [reduction kernels for $1 are built])])
])
