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

# NG_NVCC: the compiler of cuda/, and that it takes what we ask of it. Without it
# (or without shared libraries) everything else builds.
AC_DEFUN([NG_NVCC],
[AC_ARG_ENABLE([kernels],
  [AS_HELP_STRING([--disable-kernels], [build without the CUDA kernels, also where nvcc is])])
AC_ARG_VAR([NVCCFLAGS], [flags for the CUDA compiler @<:@-O3@:>@])
AC_ARG_VAR([NG_NVCC_GENCODE], [GPU architectures
  @<:@-gencode=arch=compute_90a,code=sm_90a@:>@])
: "${NVCCFLAGS=-O3}"
: "${NG_NVCC_GENCODE=-gencode=arch=compute_90a,code=sm_90a}"
# No fast-math, no contraction: results depend on it.
NG_NVCCFLAGS="$NG_NVCC_GENCODE -std=c++17 -fmad=false -lineinfo -Xcompiler=-fPIC,-Wall,-Wextra"
AS_IF([test "x$enable_werror" = xyes],
  [AS_VAR_APPEND([NG_NVCCFLAGS], [" -Werror=all-warnings"])])
ng_have_nvcc=no
AS_IF([test "x$with_cuda" = xno], [],
  [test "x$enable_kernels" = xno || test "x$NVCC" = xno || test "x$NVCC" = x], [],
  [test "x$enable_shared" != xyes],
  [AC_MSG_NOTICE([nvcc is not used: libnarrowgauge-cuda.so wants --enable-shared])],
  [AC_MSG_CHECKING([whether nvcc compiles for $NG_NVCC_GENCODE])
   cat >conftest.cu <<'NG_EOF'
#include <cuda_runtime.h>
__global__ void kernel(int *p) { *p = 1; }
int call(int *p) { kernel<<<1, 1>>>(p); return (int)cudaGetLastError(); }
NG_EOF
   AS_IF([$NVCC $NG_NVCCFLAGS $NVCCFLAGS -shared -cudart static -o conftest.so conftest.cu >&AS_MESSAGE_LOG_FD 2>&1],
     [ng_have_nvcc=yes])
   rm -f conftest.cu conftest.so
   AC_MSG_RESULT([$ng_have_nvcc])])
AS_IF([test "x$with_cuda" = xno], [],
  [AS_VAR_IF([ng_have_nvcc], [yes],
    [AC_DEFINE([HAVE_NVCC], [1], [Define to 1 if libnarrowgauge-cuda.so is built.])
     NG_FOUND([nvcc])],
    [AS_CASE([$with_cuda], [auto], [],
       [AC_MSG_ERROR([--with-cuda: no nvcc that compiles for $NG_NVCC_GENCODE; see config.log])])
     NG_MISSING([nvcc], [CUDA Toolkit 13], [the kernels: subject and backend cuda])])])
AC_SUBST([NG_NVCCFLAGS])
AM_CONDITIONAL([HAVE_NVCC], [test "x$ng_have_nvcc" = xyes])])

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
