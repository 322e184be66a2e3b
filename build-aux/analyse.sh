#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# analyse.sh SRCDIR COMPILER-FLAG...: cppcheck and clang-tidy over our C, from the
# build folder. Clean, or it fails. Left out: test programs (neither tool knows
# Check's macros) and plug-ins (one does harm), and files whose library is missing.
set -euo pipefail
srcdir=$1
shift
for tool in "$CPPCHECK" "$CLANG_TIDY"; do
    if [ "$tool" = no ]; then
        echo 'analyse: cppcheck or clang-tidy is missing' >&2
        exit 1
    fi
done
files=()
while read -r file; do
    case $(cat config.h "$srcdir/$file") in
    *'undef HAVE_MPFR'*'<mpfr.h>'* | *'undef HAVE_CHECK '*'<check.h>'*) continue ;;
    *'undef HAVE_MPI '*'<mpi.h>'* | *'undef HAVE_LIBXML2'*'<libxml/'*) continue ;;
    esac
    files+=("$srcdir/$file")
done < <(cd "$srcdir" && bash build-aux/list_sources.sh c | grep -v -e /test_ -e /plugin_)

# What cppcheck takes from no header: the compiler's byte order, and Jansson's
# loops. What it cannot follow (a variable set, or a descriptor kept, through a
# structure) is left to clang's analyser.
cat >analyse.h <<'HEADER'
#include "config.h"
#define __ORDER_LITTLE_ENDIAN__ 1234
#define __ORDER_BIG_ENDIAN__ 4321
#define __BYTE_ORDER__ __ORDER_LITTLE_ENDIAN__
#define json_array_foreach(a, i, v) \
    for (i = 0; (v = json_array_get(a, i)) != NULL; i++)
#define json_object_foreach(o, k, v) while (ng_next(o, &k, &v))
HEADER
status=0
"$CPPCHECK" --quiet --error-exitcode=1 --inline-suppr --std=c11 -j 2 \
    --enable=warning,performance,portability --include=analyse.h --library=posix \
    --suppress=missingInclude --suppress=uninitvar --suppress=autoVariables \
    --suppress=resourceLeak -I. "-I$srcdir" "${files[@]}" || status=1
rm -f analyse.h
export CLANG_TIDY srcdir
# shellcheck disable=SC2016
printf '%s\n' "${files[@]}" | xargs -P 2 -n 4 bash -c '
    n_flags=$1
    shift
    flags=("${@:1:n_flags}")
    shift "$n_flags"
    "$CLANG_TIDY" --quiet --config-file="$srcdir/.clang-tidy" "$@" -- "${flags[@]}" \
        2> >(grep -v -E "^[0-9]+ warnings? generated|^Suppressed|^Use -header-filter" >&2)
' clang-tidy "$#" "$@" || status=1
echo "analyse: ${#files[@]} files, $([ $status = 0 ] && echo clean || echo 'not clean')"
exit $status
