#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# For make check-long: with -O3 on a machine that can fuse a multiplication and an
# addition, only those sources of the reference do that ask for it by fma(). gcc 12
# makes vfmaddsub of a difference and a sum in turn, -ffp-contract=off or not.
set -u
srcdir=$(cd "${NG_SRCDIR:-.}" && pwd)
builddir=$(cd "${NG_BUILDDIR:-.}" && pwd)
CC=${CC:-gcc}
scratch=$(mktemp -d) || exit 99
trap 'rm -rf "$scratch"' EXIT
cd "$srcdir" || exit 99
[ "$(uname -m)" = x86_64 ] || exit 77

# fused ARGUMENT...: how many such instructions a compilation makes
fused() {
    "$CC" -std=c11 -ffp-contract=off -O3 -march=x86-64-v3 -fopenmp \
        -include "$builddir/config.h" -D_XOPEN_SOURCE=700 -I"$builddir" -I. -w \
        -S -o "$scratch/out.s" "$@" 2> "$scratch/err" || return
    grep -cE '\bvfn?m(add|sub|addsub|subadd)[0-9]' "$scratch/out.s"
}


# The check must be able to fail.
echo 'float f(float a, float b, float c) { return __builtin_fmaf(a, b, c); }' > "$scratch/one.c"
[ "$(fused "$scratch/one.c")" = 1 ] || exit 77

failed=0 files=0
while read -r file; do
    n=$(fused "$file")
    files=$((files + 1))
    if [ -z "$n" ]; then
        echo "FAIL $file: not compiled"
        head -n 3 "$scratch/err"
        failed=1
    elif [ "$n" != 0 ] && ! grep -qE '\bfma(f|l)?\(' "$file"; then
        echo "FAIL $file: $n fused instructions"
        failed=1
    fi
done < <(grep -lE '\b(float|double)\b' reference/*/*.c formats/*.c formats/*/*.c |
    grep -v comm_mpi)
echo "$files sources, none but those with fma() fuses: $([ $failed = 0 ] && echo so || echo 'not so')"
exit $failed
