#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# study-optimizers, tiny: its files are whole, the same for any number of
# threads, and its errors are one line and a status.
set -u
builddir=${NG_BUILDDIR:-.}
srcdir=${NG_SRCDIR:-.}
study=$builddir/study-optimizers

scratch=$(mktemp -d) || exit 99
trap 'rm -rf "$scratch"' EXIT
failed=0

fail() {
    echo "FAIL $*"
    failed=1
}

# run WANTED_STATUS ARGUMENT...
run() {
    local want=$1
    shift
    "$study" --quiet "$@" > "$scratch/out" 2> "$scratch/err"
    local got=$?
    [ $got -eq "$want" ] && return
    fail "study-optimizers $*: exit $got, not $want"
    cat "$scratch/out" "$scratch/err"
}

cat > "$scratch/tiny.json" <<END
{"text": ["$scratch/none*", "$srcdir/LICENSE"],
 "seeds": 2, "steps": 60, "batch": 2, "warmup": 5, "final_lr": 0.1,
 "evaluations": 2, "evaluated": 16,
 "optimizers": [
  {"optimizer": "adamw", "lr": 2e-3, "beta1": 0.9, "beta2": 0.999, "eps": 1e-8,
   "recipes": ["fp32", "nudged"]}]}
END

mkdir "$scratch/one" "$scratch/two"
OMP_NUM_THREADS=1 run 0 -c "$scratch/tiny.json" -j 1 -o "$scratch/one" \
    --log "$scratch/log" --checkpoints "$scratch/saved"
OMP_NUM_THREADS=4 run 0 -c "$scratch/tiny.json" -j 4 -o "$scratch/two"
cmp "$scratch/one/optimizers.json" "$scratch/two/optimizers.json" ||
    fail "1 and 4 threads differ"
cmp "$scratch/one/optimizers.md" "$scratch/two/optimizers.md" ||
    fail "1 and 4 threads differ"

# The program reads its own JSON; the page is a function of it.
cp "$scratch/one/optimizers.json" "$scratch/two/optimizers.json"
run 0 --page-only -o "$scratch/two"
cmp "$scratch/one/optimizers.md" "$scratch/two/optimizers.md" ||
    fail "--page-only gives another page"
if command -v gnuplot > "$scratch/out"; then
    [ -s "$scratch/two/optimizers-adamw.svg" ] || fail "no plot"
fi

for name in adamw-fp32-1 adamw-nudged-2; do
    [ "$(wc -l < "$scratch/log/$name.jsonl")" -eq 3 ] ||
        fail "$name.jsonl: not three lines"
    [ -s "$scratch/saved/$name/step-0000000060/manifest.json" ] ||
        fail "$name: no checkpoint"
done
for text in '"narrowgauge-optimizers-1"' '"recipe": "nudged"' '"coding"' \
    '"xxh3": "[0-9a-f]\{16\}"' '"the eps hole'; do
    grep -q "$text" "$scratch/one/optimizers.json" || fail "no $text"
done
if grep -q ': *\(-\?nan\|-\?inf\)' "$scratch/one/optimizers.json"; then
    fail "a NaN that is no text"
fi

# Learning happens: the last loss is below log 256 = 5.545.
awk -F'|' '/^\| (fp32|nudged) / { n++; if ($6 + 0 < 5.5) good++ }
    END { exit n != 2 || good != 2 }' "$scratch/one/optimizers.md" ||
    fail "nothing was learned"

run 2 -c "$scratch/none"
[ "$(wc -l < "$scratch/err")" -eq 1 ] || fail "not one line"
run 2 -c "$scratch/tiny.json" --text "$scratch/none" -o "$scratch/two"
grep -q 'none' "$scratch/err" || fail "the text is not named"
run 2 --seeds 0
run 2 --steps x

exit $failed
