#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# coverage.sh SRCDIR BUILD OUT: after the tests ran in BUILD, write OUT/index.html
# and OUT/coverage.txt, print one line, and fail under the bars. Programs that
# are tests themselves do not count, nor do faults that are planted.
set -euo pipefail
bar_core=98 bar_all=90
srcdir=$(cd "$1" && pwd)
build=$(cd "$2" && pwd)
out=$3
mkdir -p "$out"
json=$out/coverage.json
# Counters that threads raise side by side lose some: gcov then reckons with counts
# below 0, which gcovr is to pass over.
"${GCOVR:-gcovr}" --root "$srcdir" --object-directory "$build" "$build" \
    --filter "$srcdir/" --exclude "$srcdir/cuda/" --exclude "$build/" \
    --exclude '.*/conformance/checks/test_' --exclude '.*/conformance/faults/' \
    --exclude '.*/fuzz/' --gcov-ignore-parse-errors \
    --json "$json"

# gcovr's options and "covered total" of the lines it chose
lines() {
    "${GCOVR:-gcovr}" --root "$srcdir" --add-tracefile "$json" "$@" \
        --print-summary --output /dev/null |
        sed -n 's/^lines: .*(\([0-9]*\) out of \([0-9]*\)).*/\1 \2/p'
}

"${GCOVR:-gcovr}" --root "$srcdir" --add-tracefile "$json" \
    --html-details "$out/index.html" --txt "$out/coverage.txt"
read -r core_hit core_all < <(lines --filter "$srcdir/formats/" \
    --filter "$srcdir/reference/")
read -r all_hit all_all < <(lines)
echo "pages: $out/index.html, $out/coverage.txt"
awk -v ch="$core_hit" -v ca="$core_all" -v ah="$all_hit" -v aa="$all_all" \
    -v bc="$bar_core" -v ba="$bar_all" '
function percent(hit, all) { return all ? int(1000 * hit / all) / 10 : 0 }
BEGIN {
    printf "coverage: formats+reference %.1f %% of %d lines, all %.1f %% of %d\n",
        percent(ch, ca), ca, percent(ah, aa), aa
    bad = 100 * ch < bc * ca || 100 * ah < ba * aa || !ca
    if (bad) printf "coverage: under a bar (%d %%, %d %%)\n", bc, ba > "/dev/stderr"
    exit bad
}'
