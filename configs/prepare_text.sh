#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Real text to train on, from a Debian package; nothing else is fetched.
set -eu

usage() {
    cat <<'TEXT'
Usage: configs/prepare_text.sh [--all] FILE

Writes a text to FILE and prints its size.

  (nothing)  perldiag.pod of perl-modules-5.NN: 300 kB of English, what perl's
             messages mean. perl, and so autoconf and automake, brings it along.
  --all      every .pod of perl-doc, in the order of their names: 9 MB.

A package that is not installed is fetched by apt-get download, which needs no
root, and unpacked in a temporary directory. Licence of the texts: perl's own,
/usr/share/doc/perl/copyright (Artistic or GPL-1+).
TEXT
}

all=no
case ${1-} in
--all) all=yes && shift ;;
-h | --help) usage && exit 0 ;;
esac
if [ $# -ne 1 ]; then
    usage >&2
    exit 2
fi
out=$1
LC_ALL=C
export LC_ALL

die() {
    echo "prepare_text.sh: $*" >&2
    exit 4
}

scratch=$(mktemp -d) || exit 4
trap 'rm -rf "$scratch"' EXIT
trap 'exit 4' HUP INT TERM

# Unpack a package under $scratch/root.
fetch() {
    command -v apt-get >/dev/null || die "no apt-get, and $1 is not installed"
    (cd "$scratch" && apt-get download -q "$1" >apt.log 2>&1) ||
        die "apt-get download $1: $(tail -n 1 "$scratch/apt.log")"
    dpkg-deb -x "$scratch/$1"_*.deb "$scratch/root" || die "$1: cannot be unpacked"
}

# The pods under a root, one a line, in the order of their names: only those of
# the directory with a full version, since the other is a link to it.
pods() {
    find "$1"/usr/share/perl/5.*.*/pod -name "$2" 2>"$scratch/none" | sort
}

if [ $all = yes ]; then
    name='*.pod' package=perl-doc
    # perldiag.pod alone is not the whole.
    [ "$(pods / "$name" | wc -l)" -gt 10 ] && root=/ || root=$scratch/root
else
    name=perldiag.pod
    package=$(apt-cache depends perl 2>"$scratch/none" |
        sed -n 's/.*Depends: \(perl-modules-5[.0-9]*\)$/\1/p' | head -n 1)
    [ -n "$(pods / $name)" ] && root=/ || root=$scratch/root
fi
if [ "$root" != / ]; then
    [ -n "$package" ] || die 'no perl-modules-5.NN is known to apt'
    fetch "$package"
fi
pods "$root" "$name" >"$scratch/list"
[ -s "$scratch/list" ] || die "$package has no $name"
while read -r file; do
    cat "$file"
done <"$scratch/list" >"$scratch/text"
mkdir -p "$(dirname "$out")"
# Whole or not at all.
cp "$scratch/text" "$out.partial"
mv "$out.partial" "$out"
echo "$out: $(wc -c <"$out") bytes of $(wc -l <"$scratch/list") files"
