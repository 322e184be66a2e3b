# SPDX-License-Identifier: Apache-2.0
# What configure.ac needs beyond autoconf-archive: each thing looked for leaves
# a line in the summary, with the Debian package to install where it is missing.

# NG_FOUND(NAME, PURPOSE), NG_MISSING(NAME, PACKAGE, PURPOSE)
AC_DEFUN([NG_FOUND], [AS_VAR_APPEND([ng_found], [" $1"])])
AC_DEFUN([NG_MISSING], [AS_VAR_APPEND([ng_missing],
  ["$(printf '    %-13s %-30s %s' '$1' '$2' '$3')
"])])

# NG_REQUIRED_FLAG(FLAG, VARIABLE)
AC_DEFUN([NG_REQUIRED_FLAG],
[AX_CHECK_COMPILE_FLAG([$1], [AS_VAR_APPEND([$2], [" $1"])],
  [AC_MSG_ERROR([the C compiler ($CC) does not take $1; use gcc or clang])])])

# NG_CHECK_ARITHMETIC: IEEE arithmetic, each operation rounded to its own type
AC_DEFUN([NG_CHECK_ARITHMETIC],
[AC_MSG_CHECKING([for plain IEEE arithmetic])
ng_save_CFLAGS=$CFLAGS
CFLAGS="$CFLAGS $NG_CFLAGS -Wno-error"
AC_COMPILE_IFELSE([AC_LANG_SOURCE([[
#include <float.h>
#if defined(__FAST_MATH__) || (defined(__FINITE_MATH_ONLY__) && __FINITE_MATH_ONLY__)
#error fast-math
#endif
#if FLT_EVAL_METHOD != 0
#error excess precision
#endif
int main(void) { return 0; }
]])], [AC_MSG_RESULT([yes])],
  [AC_MSG_RESULT([no])
   AC_MSG_ERROR([CFLAGS must not ask for fast-math, and float must be rounded to float
   (on 32-bit x86: CFLAGS='-O2 -msse2 -mfpmath=sse')])])
CFLAGS=$ng_save_CFLAGS])

# NG_PACKAGE(PREFIX, MODULE, required|optional, DEBIAN PACKAGE, PURPOSE)
# An optional one can be turned off with --without-<lower case prefix>.
AC_DEFUN([NG_PACKAGE],
[m4_pushdef([ng_name], [m4_tolower([$1])])dnl
m4_if([$3], [optional],
  [AC_ARG_WITH(ng_name,
    [AS_HELP_STRING([--without-]ng_name, [build without $5])],
    [], [AS_VAR_SET([with_]ng_name, [auto])])],
  [AS_VAR_SET([with_]ng_name, [auto])])
AS_VAR_SET([ng_have_]ng_name, [no])
AS_VAR_IF([with_]ng_name, [no], [],
  [PKG_CHECK_MODULES([$1], [$2],
    [AS_VAR_SET([ng_have_]ng_name, [yes])
     AC_DEFINE([HAVE_$1], [1], [Define to 1 for $5.])
     NG_FOUND(ng_name)],
    [m4_if([$3], [required],
      [AC_MSG_ERROR([$2 is required ($5): on Debian, apt-get install $4 pkg-config])],
      [AS_VAR_IF([with_]ng_name, [yes],
        [AC_MSG_ERROR([--with-]ng_name[: $2 is not there: on Debian, apt-get install $4 pkg-config])])])
     NG_MISSING(ng_name, [$4], [$5])])])
AM_CONDITIONAL([HAVE_$1], [test "x$ng_have_]ng_name[" = xyes])
m4_popdef([ng_name])])

# NG_TOOL(VARIABLE, PROGRAMS, DEBIAN PACKAGE, PURPOSE)
AC_DEFUN([NG_TOOL],
[AC_PATH_PROGS([$1], [$2], [no])
AS_VAR_IF([$1], [no],
  [NG_MISSING(m4_bpatsubst([$2], [ .*], []), [$3], [$4])],
  [NG_FOUND(m4_bpatsubst([$2], [ .*], []))])])

# NG_MPI: flags for the module that runs one verify over MPI ranks
AC_DEFUN([NG_MPI],
[AC_ARG_WITH([mpi], [AS_HELP_STRING([--without-mpi], [build without MPI ranks])],
  [], [with_mpi=auto])
ng_have_mpi=no
AS_VAR_IF([with_mpi], [no], [],
  [PKG_CHECK_MODULES([MPI], [ompi-c], [ng_have_mpi=yes],
    [PKG_CHECK_MODULES([MPI], [mpich], [ng_have_mpi=yes],
      [AC_PATH_PROG([MPICC], [mpicc], [no])
       AS_IF([test "$MPICC" != no &&
              MPI_CFLAGS=$("$MPICC" --showme:compile 2>/dev/null) &&
              MPI_LIBS=$("$MPICC" --showme:link 2>/dev/null)],
         [ng_have_mpi=yes])])])
   AS_VAR_IF([ng_have_mpi], [yes],
     [AC_DEFINE([HAVE_MPI], [1], [Define to 1 if narrowgauge-mpi.so is built.])
      NG_FOUND([mpi])],
     [AS_VAR_IF([with_mpi], [yes], [AC_MSG_ERROR([--with-mpi: no MPI found])])
      NG_MISSING([mpi], [libopenmpi-dev openmpi-bin], [mpirun -n N narrowgauge verify])])])
AC_SUBST([MPI_CFLAGS])
AC_SUBST([MPI_LIBS])
AM_CONDITIONAL([HAVE_MPI], [test "x$ng_have_mpi" = xyes])])

# NG_CUDA_HEADERS: the conversions of cuda_fp4.h and its kin, on the host
AC_DEFUN([NG_CUDA_HEADERS],
[AC_ARG_WITH([cuda],
  [AS_HELP_STRING([--with-cuda@<:@=DIR@:>@],
    [the CUDA toolkit @<:@CUDA_HOME, nvcc in PATH, /usr/local/cuda@:>@])
AS_HELP_STRING([--without-cuda], [build without it])],
  [], [with_cuda=auto])
AC_ARG_VAR([CUDA_HOME], [where the CUDA toolkit is])
AC_ARG_VAR([NVCC], [the CUDA compiler])
CUDA_CFLAGS= ng_have_cuda_headers=no
AS_VAR_IF([with_cuda], [no], [NVCC=no],
  [AS_CASE([$with_cuda],
    [auto|yes], [AC_PATH_PROG([NVCC], [nvcc], [no],
                   [$CUDA_HOME/bin$PATH_SEPARATOR$PATH$PATH_SEPARATOR/usr/local/cuda/bin])
                 ng_cuda_dirs="$CUDA_HOME ${NVCC%/bin/nvcc} /usr/local/cuda /usr"],
    [AC_PATH_PROG([NVCC], [nvcc], [no], [$with_cuda/bin])
     ng_cuda_dirs=$with_cuda])
   AC_MSG_CHECKING([for cuda_fp4.h])
   ng_save_CPPFLAGS=$CPPFLAGS ng_save_CXXFLAGS=$CXXFLAGS
   CXXFLAGS="$CXXFLAGS $NG_CXXFLAGS"
   AC_LANG_PUSH([C++])
   for ng_dir in $ng_cuda_dirs; do
     test -f "$ng_dir/include/cuda_fp4.h" || continue
     # A system header, so that its warnings are not ours.
     CPPFLAGS="$ng_save_CPPFLAGS -isystem $ng_dir/include"
     AC_LINK_IFELSE([AC_LANG_PROGRAM([[
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp4.h>
#include <cuda_fp8.h>]],
       [[return __nv_cvt_float_to_fp4(6.0f, __NV_E2M1, cudaRoundNearest) != 7;]])],
       [ng_have_cuda_headers=yes CUDA_CFLAGS="-isystem $ng_dir/include"
        break])
   done
   AC_LANG_POP([C++])
   CPPFLAGS=$ng_save_CPPFLAGS CXXFLAGS=$ng_save_CXXFLAGS
   AC_MSG_RESULT([$ng_have_cuda_headers${CUDA_CFLAGS:+ ($ng_dir)}])
   AS_VAR_IF([ng_have_cuda_headers], [yes],
     [AC_DEFINE([HAVE_CUDA_HEADERS], [1], [Define to 1 for the subject cuda-headers.])
      NG_FOUND([cuda-headers])],
     [AS_VAR_IF([with_cuda], [auto], [],
        [AC_MSG_ERROR([--with-cuda: no cuda_fp4.h that the C++ compiler takes in $ng_cuda_dirs])])
      NG_MISSING([cuda-headers], [CUDA Toolkit 13], [the subject cuda-headers])])])
AC_SUBST([CUDA_CFLAGS])
AM_CONDITIONAL([HAVE_CUDA_HEADERS], [test "x$ng_have_cuda_headers" = xyes])])

# NG_SUMMARY: what was found, what was not, and the package that has it
AC_DEFUN([NG_SUMMARY],
[AS_ECHO(["
narrowgauge $PACKAGE_VERSION
  compiler   $CC $CFLAGS$NG_CFLAGS${OPENMP_CFLAGS:+ $OPENMP_CFLAGS}
  prefix     $prefix
  found     $ng_found"])
AS_IF([test -n "$ng_missing"],
  [AS_ECHO(["  missing    built without these; on Debian, apt-get install what the middle names:
$ng_missing"])],
  [AS_ECHO(["  missing    nothing"])])])
