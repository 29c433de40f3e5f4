dnl SPDX-License-Identifier: BSD-3-Clause
# OC_CHECK_MPICH: the headers of MPICH, for liboptcast-mpich.so. The library is not linked to it.
# Sets MPICH_CPPFLAGS, MPICH_LIBS (for the tools that are programs of MPICH), MPICHCC and MPICH_MPIEXEC (for tests), oc_mpich_line.
AC_DEFUN([OC_CHECK_MPICH], [
  AC_ARG_WITH([mpich],
    [AS_HELP_STRING([--with-mpich=DIR|yes|no|check],
      [the library for programs of MPICH, and the prefix of the MPICH whose headers it takes (default: check, which means
       if there is one in PATH)])],
    [], [with_mpich=check])
  AS_CASE([$with_mpich],
    [yes|no|check], [oc_path=$PATH],
    [OC_ABSOLUTE_FOLDER([with_mpich])
     oc_path="$with_mpich/bin"])
  AC_PATH_PROGS([MPICHCC], [mpicc.mpich mpicc], [no], [$oc_path])
  AC_PATH_PROGS([MPICH_MPIEXEC], [mpiexec.mpich mpiexec.hydra mpiexec], [no], [$oc_path])
  oc_mpich=no
  AS_IF([test "$with_mpich" != no && test "$MPICHCC" != no], [OC_MPICH_HEADERS])
  AS_IF([test "$with_mpich" != no && test "$with_mpich" != check && test "$oc_mpich" = no],
    [AC_MSG_ERROR([--with-mpich=$with_mpich: no MPICH 4.0 or newer in $oc_path (Debian: mpich libmpich-dev)])])
  AM_CONDITIONAL([HAVE_MPICH], [test "$oc_mpich" != no])
  AS_IF([test "$oc_mpich" != no], [oc_mpich_line="$oc_mpich ($MPICHCC)"],
    [test "$with_mpich" = no], [oc_mpich_line="off: --with-mpich=no"],
    [oc_mpich_line="off: not found (Debian: mpich libmpich-dev)"])
  AC_DEFINE_UNQUOTED([OPTCAST_MPICH_VERSION], ["`test "$oc_mpich" = no || echo "$oc_mpich"`"],
    [The MPICH whose headers liboptcast-mpich.so was built with; empty: it was not built])
  AC_SUBST([MPICH_CPPFLAGS])
  AC_SUBST([MPICH_LIBS])
])

# The wrapper prints the compiler's command, from which only the folders of headers and what is linked are taken.
AC_DEFUN([OC_MPICH_HEADERS], [
  MPICH_CPPFLAGS= MPICH_LIBS=
  for oc_word in `$MPICHCC -show 2>/dev/null`; do
    AS_CASE([$oc_word], [-I*], [MPICH_CPPFLAGS="$MPICH_CPPFLAGS -isystem ${oc_word@%:@-I}"],
      [-L*|-l*|-Wl,-rpath*], [MPICH_LIBS="$MPICH_LIBS $oc_word"])
  done
  oc_save_CPPFLAGS=$CPPFLAGS
  CPPFLAGS="$CPPFLAGS $MPICH_CPPFLAGS"
  AC_MSG_CHECKING([for MPICH 4.0 or newer])
  AC_COMPILE_IFELSE([AC_LANG_PROGRAM([[
    #include <mpi.h>
    #if !defined MPICH_NUMVERSION || MPICH_NUMVERSION < 40000000
    #error "another MPI, or an old one"
    #endif]], [[MPIX_Grequest_poll_function *poll = 0; (void) poll;]])],
    [oc_mpich=`printf '#include <mpi.h>\nMPICH_VERSION\n' |
       $CC $CPPFLAGS -E -P - 2>/dev/null | $SED -n '$s/"//gp'`], [oc_mpich=no])
  AC_MSG_RESULT([$oc_mpich])
  CPPFLAGS=$oc_save_CPPFLAGS
])
