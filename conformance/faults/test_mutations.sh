#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Every fault of mutations.txt, planted in a copy of libnarrowgauge, makes
# `narrowgauge verify` exit with 1 and print a failing case; without a fault it
# exits with 0. Nothing is written into the sources or the build. Each builds a
# library, so that only every fourth is planted by `make check`, all by `make
# check-long`; that each still changes its file is looked at always.
#
#   test_mutations.sh [PATTERN]     only faults whose name matches
#   NG_EVERY=N test_mutations.sh    every Nth (4; 10 with NG_SAMPLE=yes)
set -u
here=$(cd "$(dirname "$0")" && pwd)
list=$here/mutations.txt
: "${NG_BUILDDIR:=$PWD}" "${NG_SRCDIR:=$(cd "$here/../.." && pwd)}"
export NG_BUILDDIR NG_SRCDIR
export OMP_NUM_THREADS=1        # two run at a time

# A line's fields; the expression may hold bars of its own.
split() {
    name=${1%% | *}
    local rest=${1#* | }
    file=${rest%% | *}
    rest=${rest#* | }
    expression=${rest% | *}
    arguments=${rest##* | }
}

# link DIR SOURCE...: DIR/libnarrowgauge with the objects made from the sources
# (relative, changed copies lie below DIR) in place of the build's
link() {
    local dir=$1 source object replaced=' ' objects=()
    shift
    for source in "$@"; do
        object=${source%/*}/.libs/$(basename "$source" .c).o
        replaced+="$object "
        [ -f "$NG_BUILDDIR/$object" ] || { echo "no $object"; return 1; }
        local from=$NG_SRCDIR/$source
        [ -f "$dir/$source" ] && from=$dir/$source
        objects+=("$dir/$(basename "$source" .c).o")
        # shellcheck disable=SC2086
        $NG_CC -w -I"$dir" -I"$NG_BUILDDIR" -I"$NG_SRCDIR" -include config.h \
            -D_XOPEN_SOURCE=700 $NG_FLAGS -fPIC -c -o "${objects[-1]}" "$from" \
            || return 1
    done
    while read -r object; do
        [[ $replaced == *" $object "* ]] || objects+=("$NG_BUILDDIR/$object")
    done < "$scratch/objects"
    # shellcheck disable=SC2086
    $NG_CC -shared $NG_FLAGS -Wl,-soname,"$soname" -o "$dir/$soname" \
        "${objects[@]}" $NG_LIBS
}

# link_host DIR: DIR/narrowgauge with subject cuda-host made from the kernels'
# functions below DIR where they are there, and from the sources' otherwise: the
# one of its two files that the changed one belongs to
link_host() {
    local dir=$1 objects of=subject_cuda_host
    [ -d "$dir/cuda/optim" ] && of=optim_functions_cuda_host
    # shellcheck disable=SC2086
    $NG_CXX -w -I"$dir" -I"$NG_BUILDDIR" -I"$NG_SRCDIR" -include config.h \
        -D_XOPEN_SOURCE=700 $NG_CXX_FLAGS -O1 -c -o "$dir/host.o" \
        "$NG_SRCDIR/conformance/subject/$of.cc" || return 1
    mapfile -t objects < "$scratch/program_objects"
    # The changed object comes first, so the archive's own is not taken.
    # shellcheck disable=SC2086
    $NG_CC $NG_FLAGS -o "$dir/narrowgauge" "${objects[@]}" "$dir/host.o" \
        "$NG_BUILDDIR/libtrain.a" "$NG_BUILDDIR/libsuite.a" \
        -L"$NG_BUILDDIR/.libs" -lnarrowgauge $NG_HOST_LIBS -lm
}

# verify DIR ARGUMENT...: with the library, or the program, in DIR; output in
# DIR/out
verify() {
    local dir=$1 run=$program path=$1
    shift
    [ -x "$dir/narrowgauge" ] && run=$dir/narrowgauge path=$NG_BUILDDIR/.libs
    LD_LIBRARY_PATH=$path timeout 300 "$run" verify --quiet --stop-after 1 \
        --no-diagnosis "$@" > "$dir/out" 2>&1
}

# The changed file of a fault, below DIR.
change() {
    local dir=$1
    mkdir -p "$dir/${file%/*}"
    sed -e "$expression" "$NG_SRCDIR/$file" > "$dir/$file" || {
        printf 'broken\t%s\tsed failed\n' "$name"
        return 1
    }
    if cmp -s "$NG_SRCDIR/$file" "$dir/$file"; then
        printf 'stale\t%s\tthe expression changes nothing in %s\n' "$name" \
            "$file"
        return 1
    fi
}

# One fault. Writes one line, "verdict<TAB>name<TAB>words".
plant() {
    split "$1"
    local dir
    dir=$(mktemp -d "$scratch/mutant-XXXXXX") || return
    change "$dir" || return
    local sources=("$file")
    if [[ $file == *.h ]]; then         # then all that include it
        mapfile -t sources < <(cd "$NG_SRCDIR" &&
            grep -rlF "#include \"$file\"" --include='*.c' formats reference)
    fi
    if [[ $file == cuda/* ]]; then
        link_host "$dir" > "$dir/log" 2>&1
    else
        link "$dir" "${sources[@]}" > "$dir/log" 2>&1
    fi || {
        printf 'broken\t%s\tdoes not build: %s\n' "$name" \
            "$(grep -m 1 -E 'error|no |undefined' "$dir/log")"
        return
    }
    local options status words
    read -ra options <<< "$arguments"
    verify "$dir" "${options[@]}"
    status=$?
    words=$(grep -m 1 '^FAIL op=' "$dir/out" |
        sed -E 's/^FAIL op=([^ ]*) .* stratum=([^ ]*) case=([0-9]*) seed=[0-9]* /\1 \2 \3: /')
    if [ $status -eq 1 ] && [ -n "$words" ]; then
        printf 'killed\t%s\t%s\n' "$name" "${words:0:100}"
    else
        printf 'SURVIVED\t%s\texit %s: %s\n' "$name" "$status" "$arguments"
    fi
    rm -rf "$dir"
}

# Without a fault: what relinks the library changes nothing. One run for each
# operation (--op NAME comes first) shows it; that the reference passes in all is
# test_verify's.
control() {
    local options status out
    out=$(mktemp -d "$scratch/control-XXXXXX") || return
    cp "$scratch/control/$soname" "$out/"
    read -ra options <<< "$1"
    verify "$out" "${options[@]}"
    status=$?
    if [ $status -ne 0 ]; then
        printf 'CONTROL\tno fault\texit %s: %s\n' "$status" "$1"
        cat "$out/out" >&2
    else
        printf 'passed\tno fault\t%s\n' "$1"
    fi
    rm -rf "$out"
}

case ${1-} in
--plant) plant "$2"; exit ;;
--control) control "$2"; exit ;;
esac

# ---- the program, its library's name and objects, and how they were built ------
program=$NG_BUILDDIR/.libs/narrowgauge
if [ ! -x "$program" ] || [ ! -x "$NG_BUILDDIR/config.status" ]; then
    echo 'SKIP: needs a configured build with the shared library'
    exit 77
fi
scratch=$(mktemp -d) || exit 99
trap 'rm -rf "$scratch"' EXIT
soname=                         # the one with the major version alone
for path in "$NG_BUILDDIR"/.libs/libnarrowgauge.so.*; do
    [[ $path =~ \.so\.[0-9]+$ ]] && soname=${path##*/}
done
# Those of other modules bear their name: narrowgauge_mpi_la-comm_mpi.o.
(cd "$NG_BUILDDIR" && find formats reference -path '*/.libs/*.o' \
    ! -name '*_la-*.o') > "$scratch/objects"
# The program's: of that folder, but for modules and other programs.
find "$NG_BUILDDIR/conformance/cli" -name '*.o' ! -path '*/.libs/*' \
    ! -name '*_la-*.o' | while read -r object; do
    [[ $object == */main.o ]] ||
        ! nm --defined-only "$object" | grep -q ' T main$' || continue
    echo "$object"
done > "$scratch/program_objects"
if [ -z "$soname" ] || [ ! -s "$scratch/objects" ]; then
    echo 'SKIP: no PIC objects of libnarrowgauge here'
    exit 77
fi
{
    read -r NG_CC
    read -r NG_FLAGS
    read -r NG_LIBS
    read -r NG_CXX
    read -r NG_CXX_FLAGS
    read -r NG_HOST_LIBS
} < <(cd "$NG_BUILDDIR" &&
    printf '%s\n' '@CC@' '@CPPFLAGS@ @JANSSON_CFLAGS@ @NG_CFLAGS@ @OPENMP_CFLAGS@ @CFLAGS@' \
        '@LDFLAGS@ @JANSSON_LIBS@ @LIBS@' '@CXX@' \
        '@CPPFLAGS@ @NG_CXXFLAGS@ @CXXFLAGS@' \
        '@LDFLAGS@ @LIBXML2_LIBS@ @JANSSON_LIBS@ @MPFR_LIBS@ @XXHASH_LIBS@ @YAML_LIBS@ @LIBS@' |
    ./config.status --quiet --file=-:-)
[ -n "$NG_CC" ] || exit 99
if [[ $NG_CC$NG_FLAGS == *-fsanitize* || $NG_CC$NG_FLAGS == *--coverage* ]]; then
    echo 'SKIP: the plain build shows it faster'
    exit 77
fi
export program scratch soname NG_CC NG_FLAGS NG_LIBS NG_CXX NG_CXX_FLAGS \
    NG_HOST_LIBS

if ! LD_LIBRARY_PATH=$NG_BUILDDIR/.libs "$program" ops --subjects |
    grep -q oracle; then
    echo 'SKIP: no MPFR oracle in this build'
    exit 77
fi

mkdir "$scratch/control"
link "$scratch/control" || exit 99      # linked alike, nothing changed

every=4
[ "${NG_SAMPLE-}" = yes ] && every=10
[ $# -gt 0 ] && every=1
grep -vE '^(#|$)' "$list" | grep -E -- "${1-}" > "$scratch/all"
awk -v every="${NG_EVERY:-$every}" 'NR % every == 0' "$scratch/all" > "$scratch/faults"
while read -r line; do
    split "$line"
    change "$scratch/unbuilt"
done < "$scratch/all" > "$scratch/unusable"
if [ -s "$scratch/unusable" ]; then
    cat "$scratch/unusable"
    exit 99
fi
while read -r line; do
    split "$line"
    echo "$arguments"
done < "$scratch/faults" | sort -u | awk '!seen[$2]++' > "$scratch/arguments"
each() { tr '\n' '\0' < "$2" | xargs -0 -P 2 -n 1 "$BASH" "$0" "$1"; }
each --control "$scratch/arguments" > "$scratch/controls"
each --plant "$scratch/faults" > "$scratch/results"

sort -t "$(printf '\t')" -k2 "$scratch/results" |
    awk -F '\t' '{ printf "%-9s %-36s %s\n", $1, $2, $3 }'
grep -v '^passed' "$scratch/controls"
faults=$(wc -l < "$scratch/faults")
killed=$(grep -c '^killed' "$scratch/results")
controls=$(wc -l < "$scratch/arguments")
passed=$(grep -c '^passed' "$scratch/controls")
echo "$killed of $faults planted faults found, of $(wc -l < "$scratch/all") there are; without a fault" \
    "$passed of $controls runs pass"
grep -qE '^(stale|broken)' "$scratch/results" && exit 99
[ "$faults" -gt 0 ] && [ "$killed" -eq "$faults" ] &&
    [ "$passed" -eq "$controls" ]
