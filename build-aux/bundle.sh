#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# bundle.sh SRCDIR BINDIR LIBDIR OUT VERSION: from a staged install make OUT, a
# folder that runs wherever it is copied to: the program, and in lib/ all that it
# needs but the C library's own files.
set -euo pipefail
srcdir=$1 bindir=$2 libdir=$3 out=$4 version=$5
rm -rf "$out"
mkdir -p "$out/bin" "$out/lib" "$out/licences"
cp "$bindir/narrowgauge" "$out/bin/"
cp "$srcdir/LICENSE" "$out/licences/narrowgauge"

while read -r name path; do
    case $name in
    linux-vdso.* | linux-gate.* | */ld-* | ld-linux* | libc.so.* | libm.so.* | \
        libdl.so.* | libpthread.so.* | librt.so.*) continue ;;
    libmpi* | libnccl* | libcudnn* | libcublas* | libcudart*)
        echo "bundle: $name does not belong in it" >&2
        exit 1
        ;;
    esac
    if [ ! -f "$path" ]; then
        echo "bundle: $name is not to be found" >&2
        exit 1
    fi
    cp -L "$path" "$out/lib/$name"
    # The licence goes with the library, where the system knows it.
    package=$(dpkg-query -S "$(realpath "$path")" 2>/dev/null | sed 's/:.*//;q' || :)
    if [ -n "$package" ] && [ -f "/usr/share/doc/$package/copyright" ]; then
        cp -L "/usr/share/doc/$package/copyright" "$out/licences/$package"
    fi
done < <(LD_LIBRARY_PATH=$libdir ldd "$out/bin/narrowgauge" |
    awk '$2 == "=>" { print $1, ($3 == "not" ? "-" : $3) }')

# The kernels, where they were built: opened on demand, its runtime inside.
if [ -f "$libdir/narrowgauge/libnarrowgauge-cuda.so" ]; then
    cp "$libdir/narrowgauge/libnarrowgauge-cuda.so" "$out/lib/"
fi
chmod -R u+w "$out"
find "$out/lib" -type f -exec chmod 644 {} + -exec strip --strip-unneeded {} \;
strip "$out/bin/narrowgauge"
# The old RPATH, which LD_LIBRARY_PATH does not override.
# shellcheck disable=SC2016
"$PATCHELF" --force-rpath --set-rpath '$ORIGIN/../lib' "$out/bin/narrowgauge"
for library in "$out"/lib/*; do
    # shellcheck disable=SC2016
    "$PATCHELF" --force-rpath --set-rpath '$ORIGIN' "$library"
done
glibc=$(for file in "$out"/bin/* "$out"/lib/*; do objdump -T "$file"; done |
    grep -o 'GLIBC_2[.0-9]*' | sed 's/GLIBC_//' | sort -uV | tail -n 1)

cat >"$out/README" <<README
narrowgauge $version, for machines without MPFR and without root

Copy this folder anywhere and run bin/narrowgauge: it finds its libraries in lib/
by itself. It needs Linux on $(uname -m) with glibc $glibc or newer, and nothing else.

    ./selftest              the folder is whole, and level 0 passes (a minute)
    bin/narrowgauge --help

Not in here: MPI, NCCL, cuDNN, cuBLASLt, libxml2 (so no --junit). licences/ has the
terms of each part.
README
cat >"$out/selftest" <<'SELFTEST'
#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Run the bundle where it lies: its own libraries, then verify at level 0.
set -eu
here=$(cd "$(dirname "$0")" && pwd -P)
for library in "$here"/lib/*; do
    case $library in */libnarrowgauge-cuda.so) continue ;; esac # on demand
    LD_TRACE_LOADED_OBJECTS=1 "$here/bin/narrowgauge" |
        grep -qF "=> $here/bin/../lib/${library##*/} " || {
        echo "selftest: $library is not the one that is loaded" >&2
        exit 1
    }
done
"$here/bin/narrowgauge" --version
"$here/bin/narrowgauge" verify --level 0
echo 'selftest: passed'
SELFTEST
chmod 755 "$out/selftest" "$out/bin/narrowgauge"
echo "bundle: $out, $(du -sk "$out" | cut -f1) KiB, $(find "$out/lib" -type f | wc -l) libraries, glibc >= $glibc"
