#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# sub_build.sh SRCDIR DIR ARGUMENT...: from a build folder, build in DIR below it
# with the arguments that folder was configured with, and then these.
set -euo pipefail
srcdir=$(cd "$1" && pwd)
dir=$2
shift 2
if [ -f "$srcdir/config.status" ]; then
    echo "$dir: needs a build outside the source folder:" \
        'make distclean; mkdir build; cd build; ../configure' >&2
    exit 1
fi
eval "set -- $(./config.status --config) $(printf "%q " "$@")"
mkdir -p "$dir"
cd "$dir"
if [ ! -f Makefile ] || [ ! -f arguments ] || [ "$(cat arguments)" != "$*" ]; then
    rm -f arguments
    "$srcdir/configure" "$@" >configure.log 2>&1 || {
        tail -n 30 configure.log
        exit 1
    }
    make_clean=yes
    printf '%s' "$*" >arguments
fi
if [ "${make_clean:-no}" = yes ]; then
    $MAKE --no-print-directory clean >/dev/null
fi
$MAKE --no-print-directory all
