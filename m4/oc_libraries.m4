dnl SPDX-License-Identifier: BSD-3-Clause
# OC_CHECK_LIBRARIES: UCX, hwloc, inih, libcrypto (needed), libibverbs and librdmacm, PMIx (if they
# are there).
AC_DEFUN([OC_CHECK_LIBRARIES], [
  PKG_CHECK_MODULES([UCX], [ucx >= 1.13], [],
    [AC_MSG_ERROR([UCX 1.13 or newer is needed (Debian: libucx-dev): $UCX_PKG_ERRORS])])
  oc_ucx=`$PKG_CONFIG --modversion ucx`
  PKG_CHECK_MODULES([HWLOC], [hwloc >= 2.0], [],
    [AC_MSG_ERROR([hwloc 2.0 or newer is needed (Debian: libhwloc-dev): $HWLOC_PKG_ERRORS])])
  oc_hwloc=`$PKG_CONFIG --modversion hwloc`
  PKG_CHECK_MODULES([INIH], [inih], [],
    [AC_MSG_ERROR([inih is needed (Debian: libinih-dev): $INIH_PKG_ERRORS])])
  PKG_CHECK_MODULES([CRYPTO], [libcrypto >= 3.0], [],
    [AC_MSG_ERROR([libcrypto of OpenSSL 3.0 or newer is needed (Debian: libssl-dev): $CRYPTO_PKG_ERRORS])])
  AC_CHECK_HEADERS([uthash.h utlist.h], [],
    [AC_MSG_ERROR([uthash is needed (Debian: uthash-dev)])])
  AC_SEARCH_LIBS([dladdr], [dl], [],
    [AC_MSG_ERROR([dladdr is needed, which no C library that Open MPI runs with should lack])])
  OC_CHECK_VERBS
  OC_CHECK_PMIX
  AC_DEFINE_UNQUOTED([OPTCAST_UCX_VERSION], ["$oc_ucx"], [UCX that it was built with])
  AC_DEFINE_UNQUOTED([OPTCAST_HWLOC_VERSION], ["$oc_hwloc"], [hwloc that it was built with])
])

# OC_CHECK_VERBS: what multicast over InfiniBand and RoCE needs; without it there is UDP.
AC_DEFUN([OC_CHECK_VERBS], [
  AC_ARG_WITH([verbs],
    [AS_HELP_STRING([--with-verbs=yes|no|check],
      [multicast over InfiniBand and RoCE by libibverbs and librdmacm (default: check, which means if they are there)])],
    [], [with_verbs=check])
  AS_CASE([$with_verbs],
    [no], [oc_verbs=no],
    [yes|check], [PKG_CHECK_MODULES([VERBS], [libibverbs librdmacm], [oc_verbs=yes], [oc_verbs=no])],
    [AC_MSG_ERROR([--with-verbs=$with_verbs: it is yes, no or check])])
  AS_IF([test "$with_verbs$oc_verbs" = yesno],
    [AC_MSG_ERROR([--with-verbs: libibverbs or librdmacm not found (Debian: libibverbs-dev librdmacm-dev): $VERBS_PKG_ERRORS])])
  AM_CONDITIONAL([HAVE_VERBS], [test "$oc_verbs" = yes])
])

# OC_CHECK_PMIX: by which optcast-info --multicast finds its other processes. Only the headers are needed: the library
# is loaded at run time.
AC_DEFUN([OC_CHECK_PMIX], [
  AC_ARG_WITH([pmix],
    [AS_HELP_STRING([--with-pmix=yes|no|check],
      [optcast-info --multicast under mpirun without further arguments (default: check, which means if PMIx is there)])],
    [], [with_pmix=check])
  AS_CASE([$with_pmix],
    [no], [oc_pmix=no],
    [yes|check], [PKG_CHECK_MODULES([PMIX], [pmix >= 3.0], [oc_pmix=yes], [oc_pmix=no])],
    [AC_MSG_ERROR([--with-pmix=$with_pmix: it is yes, no or check])])
  AS_IF([test "$with_pmix$oc_pmix" = yesno],
    [AC_MSG_ERROR([--with-pmix: PMIx not found (Debian: libpmix-dev): $PMIX_PKG_ERRORS])])
  AM_CONDITIONAL([HAVE_PMIX], [test "$oc_pmix" = yes])
])

# OC_CHECK_TEST_TOOLS: what only the tests need.
AC_DEFUN([OC_CHECK_TEST_TOOLS], [
  PKG_CHECK_MODULES([CMOCKA], [cmocka], [oc_cmocka=yes], [oc_cmocka=no])
  AM_CONDITIONAL([HAVE_CMOCKA], [test "$oc_cmocka" = yes])
  AC_PATH_PROGS([FUZZ_CC], [clang clang-14], [no])
])

# OC_COMPONENT_DIR: never the live Open MPI unless somebody says so.
AC_DEFUN([OC_COMPONENT_DIR], [
  AC_ARG_WITH([componentdir],
    [AS_HELP_STRING([--with-componentdir=DIR],
      [where the component is installed (default: LIBDIR/optcast; Open MPI's own folder is what "ompi_info --path pkglibdir" prints)])],
    [componentdir="$withval"], [componentdir='${libdir}/optcast'])
  AS_CASE([$componentdir], [yes|no|""],
    [AC_MSG_ERROR([--with-componentdir=$componentdir: the name of a folder is needed])])
  AC_SUBST([componentdir])
])

AC_DEFUN([OC_SUMMARY], [
  AS_IF([test "$oc_verbs" = yes], [oc_verbs_line="on"],
    [test "$with_verbs" = no], [oc_verbs_line="off: --with-verbs=no"],
    [oc_verbs_line="off: libibverbs or librdmacm not found (Debian: libibverbs-dev librdmacm-dev)"])
  AS_IF([test "$oc_pmix" = yes], [oc_pmix_line="on"],
    [test "$with_pmix" = no], [oc_pmix_line="off: --with-pmix=no"],
    [oc_pmix_line="off: not found (Debian: libpmix-dev)"])
  AS_IF([test "$oc_cmocka" = yes], [oc_cmocka_line="on"],
    [oc_cmocka_line="off: cmocka not found (Debian: libcmocka-dev)"])
  AS_IF([test "$FUZZ_CC" != no], [oc_fuzz_line="on, $FUZZ_CC"],
    [oc_fuzz_line="off: clang not found (Debian: clang libclang-rt-14-dev)"])
  AC_MSG_NOTICE([

  Optcast for MPI $PACKAGE_VERSION
    Open MPI          $OMPI_VERSION ($OMPICC), headers: $oc_headers
    MPICH             $oc_mpich_line
    UCX               $oc_ucx
    hwloc             $oc_hwloc
    verbs             $oc_verbs_line
    PMIx              $oc_pmix_line
    reduction kernels $oc_isa
    unit tests        $oc_cmocka_line
    fuzz targets      $oc_fuzz_line
    sanitizers        $oc_sanitizers
    checks            $oc_checks
    prefix            $prefix
    component goes to $componentdir
])])
