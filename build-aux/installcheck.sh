#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# installcheck.sh SRCDIR PKGCONFIGDIR LIBDIR BINDIR: use what was installed as a
# stranger would: pkg-config, the headers alone, the program.
set -euo pipefail
srcdir=$(cd "$1" && pwd)
export PKG_CONFIG_PATH=$DESTDIR$2${PKG_CONFIG_PATH:+:$PKG_CONFIG_PATH}
if [ -n "$DESTDIR" ]; then export PKG_CONFIG_SYSROOT_DIR=$DESTDIR; fi
export LD_LIBRARY_PATH=$DESTDIR$3
bindir=$DESTDIR$4
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
read -r -a cflags <<<"$("$PKG_CONFIG" --cflags narrowgauge)"
read -r -a libs <<<"$("$PKG_CONFIG" --libs narrowgauge)"
read -r -a cc <<<"$CC"
read -r -a cxx <<<"$CXX"

"${cc[@]}" -std=c11 "${cflags[@]}" -o "$work/user" "$srcdir/build-aux/installcheck.c" "${libs[@]}"
"$work/user"

include=$("$PKG_CONFIG" --variable=includedir narrowgauge)/narrowgauge
if [ -n "$DESTDIR" ]; then include=$DESTDIR${include#"$DESTDIR"}; fi
n=0
while read -r header; do
    printf '#include <%s>\n#include <%s>\n' "$header" "$header" |
        tee "$work/a.c" >"$work/a.cc"
    "${cc[@]}" -std=c11 -Wall -Wextra -Werror "-I$include" -c -o "$work/a.o" "$work/a.c"
    if "${cxx[@]}" --version >/dev/null 2>&1; then
        "${cxx[@]}" -std=c++11 -Wall -Wextra -Werror "-I$include" -c -o "$work/a.o" "$work/a.cc"
    fi
    n=$((n + 1))
done < <(cd "$include" && find . -name '*.h' | sed 's,^\./,,' | sort)
((n > 0))

foreign=$(nm -D --defined-only "$DESTDIR$3/libnarrowgauge.so" | awk '$3 !~ /^ng_/ { print $3 }')
if [ -n "$foreign" ]; then
    echo "installcheck: exported without ng_:" "$foreign" >&2
    exit 1
fi
"$bindir/narrowgauge" --version
echo "installcheck: a program, $n headers and the exports are right"
