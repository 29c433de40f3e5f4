dnl SPDX-License-Identifier: BSD-3-Clause
# OC_CHECK_OMPI
# -------------
# Finds one Open MPI with devel headers through its own mpicc and ompi_info.
# Sets OMPICC OMPI_INFO OMPI_CPPFLAGS OMPI_CFLAGS OMPI_LIBS OMPI_PKGLIBDIR OMPI_VERSION, and for
# programs that use MPI as applications do OMPI_APP_CPPFLAGS OMPI_APP_LIBS; and what another configure
# has to be told to find the same, OMPI_CONFIGURE_FLAGS
AC_DEFUN([OC_CHECK_OMPI], [
  OMPI_CONFIGURE_FLAGS=
  AC_ARG_WITH([ompi],
    [AS_HELP_STRING([--with-ompi=DIR], [prefix of the Open MPI to build for (default: the one in PATH)])],
    [OC_ABSOLUTE_FOLDER([with_ompi])
     oc_path="$with_ompi/bin"
     OMPI_CONFIGURE_FLAGS="--with-ompi=$with_ompi"], [oc_path="$PATH"])
  AC_ARG_WITH([ompi-source],
    [AS_HELP_STRING([--with-ompi-source=DIR],
      [source tree of the same Open MPI, for headers that its installation lacks])],
    [OC_ABSOLUTE_FOLDER([with_ompi_source])
     OMPI_CONFIGURE_FLAGS="$OMPI_CONFIGURE_FLAGS --with-ompi-source=$with_ompi_source"])
  AC_PATH_PROGS([OMPICC], [mpicc.openmpi mpicc], [no], [$oc_path])
  AC_PATH_PROG([OMPI_INFO], [ompi_info], [no], [$oc_path])
  AC_PATH_PROGS([OMPI_MPIRUN], [mpirun.openmpi mpirun], [no], [$oc_path])
  AS_IF([test "$OMPICC" = no || test "$OMPI_INFO" = no],
    [AC_MSG_ERROR([no Open MPI (mpicc and ompi_info) in $oc_path: install it (Debian: libopenmpi-dev openmpi-bin) or give --with-ompi=PREFIX])])
  oc_incdirs=`$OMPICC --showme:incdirs 2>/dev/null`
  AS_IF([test -z "$oc_incdirs"],
    [AC_MSG_ERROR([$OMPICC is not the compiler wrapper of an Open MPI: give --with-ompi=PREFIX])])
  oc_pkginc=`$OMPI_INFO --path pkgincludedir --parsable | $SED -n 's/^path:pkgincludedir://p' | head -1`
  OMPI_PKGLIBDIR=`$OMPI_INFO --path pkglibdir --parsable | $SED -n 's/^path:pkglibdir://p' | head -1`
  OMPI_APP_CPPFLAGS=
  for oc_d in $oc_incdirs; do OMPI_APP_CPPFLAGS="$OMPI_APP_CPPFLAGS -isystem $oc_d"; done
  OMPI_APP_LIBS=`$OMPICC --showme:link`
  OMPI_CPPFLAGS=
  for oc_d in $oc_incdirs "$oc_pkginc"; do OMPI_CPPFLAGS="$OMPI_CPPFLAGS -isystem $oc_d"; done
  AS_IF([test -n "$with_ompi_source"],
    [OMPI_CPPFLAGS="$OMPI_CPPFLAGS -isystem $with_ompi_source -isystem $with_ompi_source/ompi/include -isystem $with_ompi_source/opal/include"])
  AC_MSG_CHECKING([Open MPI version])
  OMPI_VERSION=`$OMPI_INFO --version | $SED -n 's/^Open MPI v//p' | head -1`
  AC_MSG_RESULT([$OMPI_VERSION])
  # the inline atomics of opal need a 16 byte compare and swap on x86-64
  OMPI_CFLAGS=
  AS_CASE([$host_cpu], [x86_64], [OMPI_CFLAGS=-mcx16])
  OC_OMPI_HEADERS
  OC_OMPI_LINK
  AC_SUBST([OMPI_CPPFLAGS]) AC_SUBST([OMPI_CFLAGS]) AC_SUBST([OMPI_LIBS])
  AC_SUBST([OMPI_APP_CPPFLAGS]) AC_SUBST([OMPI_APP_LIBS])
  AC_SUBST([OMPI_PKGLIBDIR]) AC_SUBST([OMPI_VERSION]) AC_SUBST([OMPI_CONFIGURE_FLAGS])
  AC_DEFINE_UNQUOTED([OPTCAST_OMPI_VERSION], ["$OMPI_VERSION"], [Open MPI that the component is built for])
])

# OC_ABSOLUTE_FOLDER(with_NAME): the value of an option becomes the name of a folder from the root.
AC_DEFUN([OC_ABSOLUTE_FOLDER], [
  oc_folder=`cd "$$1" 2>/dev/null && pwd`
  AS_IF([test "x$$1" = x || test -z "$oc_folder"],
    [AC_MSG_ERROR([--m4_translit([$1], [_], [-])=$$1: there is no such folder])])
  $1=$oc_folder
])

# No release installs every header that its own headers include: compat/ has
# stand-ins, used only when the plain installation does not compile.
AC_DEFUN([OC_OMPI_HEADERS], [
  oc_save_CPPFLAGS=$CPPFLAGS oc_save_CFLAGS=$CFLAGS
  CFLAGS="$CFLAGS $OMPI_CFLAGS"
  AC_MSG_CHECKING([for usable Open MPI devel headers])
  oc_headers=no
  for oc_try in "" "compat"; do
    oc_flag=
    AS_IF([test -n "$oc_try"], [oc_flag="-I$srcdir/$oc_try"])
    CPPFLAGS="$oc_save_CPPFLAGS $OMPI_CPPFLAGS $oc_flag"
    AC_COMPILE_IFELSE([AC_LANG_PROGRAM(
      [[#include "ompi_config.h"
        #include "ompi/mca/coll/coll.h"
        #include "ompi/op/op.h"
        #include "ompi/communicator/communicator.h"
        #include "opal/class/opal_free_list.h"]], [[mca_coll_base_module_t m; (void) m;]])],
      [AS_IF([test -n "$oc_try"],
         [oc_headers="yes, with $oc_try"
          OMPI_CPPFLAGS="$OMPI_CPPFLAGS -isystem \$(top_srcdir)/$oc_try"], [oc_headers=yes])
       break])
  done
  AC_MSG_RESULT([$oc_headers])
  CPPFLAGS=$oc_save_CPPFLAGS CFLAGS=$oc_save_CFLAGS
  AS_IF([test "$oc_headers" = no],
    [AC_MSG_ERROR([the headers of Open MPI $OMPI_VERSION do not compile: it needs to be built with --with-devel-headers, and from 5.0 on --with-ompi-source=DIR has to name its source tree])])
])

# 6.0 moved the internals to libopen_mpi; components must not link libmpi there.
AC_DEFUN([OC_OMPI_LINK], [
  oc_save_LIBS=$LIBS
  oc_libdirs=
  for oc_d in `$OMPICC --showme:libdirs`; do oc_libdirs="$oc_libdirs -L$oc_d"; done
  OMPI_LIBS=
  for oc_l in "-lopen_mpi -lopen-pal" "-lmpi -lopen-pal"; do
    LIBS="$oc_libdirs $oc_l $oc_save_LIBS"
    AC_LINK_IFELSE([AC_LANG_PROGRAM([[void opal_progress(void); int mca_coll_base_reduce_local(void);]],
      [[opal_progress(); return mca_coll_base_reduce_local();]])],
      [OMPI_LIBS="$oc_libdirs $oc_l"; break])
  done
  LIBS=$oc_save_LIBS
  AS_IF([test -z "$OMPI_LIBS"],
    [AC_MSG_ERROR([cannot link with the internals of Open MPI $OMPI_VERSION in $oc_libdirs: see config.log])])
])
