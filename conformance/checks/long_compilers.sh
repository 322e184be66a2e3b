#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# For make check-long: a build by clang meets the baseline of gcc's, inputs, bits
# and errors. What C leaves to the compiler (the order of a call's arguments, for
# one) must not choose what is verified.
set -u
srcdir=$(cd "${NG_SRCDIR:-.}" && pwd)
scratch=$(mktemp -d) || exit 99
trap 'rm -rf "$scratch"' EXIT
cd "$scratch" || exit 99
echo 'int main(void) { return 0; }' > one.c
clang -fopenmp one.c -o one 2> /dev/null || {
    echo 'SKIP: no clang, or none with OpenMP (clang, libomp-dev)'
    exit 77
}

if ! { "$srcdir/configure" --disable-kernels CC=clang CXX=clang++ &&
    make -j 2 narrowgauge; } > log 2>&1; then
    tail -n 20 log
    exit 1
fi
./narrowgauge verify --quiet --report run || exit 1
./narrowgauge gate --baseline "$srcdir/reports/baselines/reference.json" --current run
