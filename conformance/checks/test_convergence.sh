#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# narrowgauge study, tiny: its files are whole, it goes on where it was stopped,
# and its figures are those of the logs.
# shellcheck source=/dev/null
. "${NG_SRCDIR:-.}/conformance/checks/train_runs.sh"
failed=0

# study WANTED_STATUS ARGUMENT...
study() {
    local want=$1
    shift
    "$NARROWGAUGE" study --config tiny.yaml --quiet --set sample.every=0 \
        --set steps=6 --set evaluation.every=3 "$@" > out 2> err
    local got=$?
    [ $got -eq "$want" ] || complain "study $*: exit $got, not $want"
}

study 0 --recipes bf16,mxfp4 --seeds 2 --out one
for name in bf16-7 bf16-8 mxfp4-7 mxfp4-8; do
    [ "$(grep -c '"event":"step"' one/$name/log.jsonl)" -eq 6 ] ||
        complain "$name: not six steps"
done
for text in '"narrowgauge-convergence-1"' '"name": "mxfp4"' '"deviation_percent"' \
    '"evaluated_at"' '"tokens_per_second"'; do
    grep -q -- "$text" one/convergence.json || complain "no $text"
done
if grep -q ': *\(-\?nan\|-\?inf\)' one/convergence.json; then
    complain 'a NaN that is no text'
fi
grep -q '^| mxfp4 | [0-9.]* \[' one/convergence.md || complain 'no row of mxfp4'
if command -v gnuplot > out; then
    [ -s one/convergence.svg ] || complain 'no plot'
fi

# The mean of the page is that of the logs.
awk -F'"loss":' '/"event":"evaluation"/ { split($2, x, "}"); last[FILENAME] = x[1] + 0 }
    END { for (file in last) { sum += last[file]; n++ } printf "%.4f\n", sum / n }' \
    one/mxfp4-7/log.jsonl one/mxfp4-8/log.jsonl > want
grep -qF "| mxfp4 | $(cat want) [" one/convergence.md || complain "the mean is not $(cat want)"

# The same recipe twice deviates by nothing, in no run.
study 0 --recipes bf16,bf16 --seeds 2 --out one
grep -q '| bf16 | .* | +0.000 \[+0.000, +0.000\] |' one/convergence.md ||
    complain 'bf16 deviates from itself'

# Half done, then again: what there is is taken, the rest is trained.
study 0 --recipes bf16 --seeds 1 --out two
"$NARROWGAUGE" train -c tiny.yaml -q --recipe mxfp4 --steps 2 --set sample.every=0 \
    --set steps=6 --set evaluation.every=3 --set run=two/mxfp4-7 > out 2> err ||
    complain 'half a run'
study 0 --recipes bf16,mxfp4 --seeds 2 --out two
for name in bf16-7 mxfp4-7; do
    same one/$name two/$name "$name, stopped between"
done

study 2 --recipes bf16,nosuch --seeds 1 --out three
grep -q nosuch err || complain 'an unknown recipe: not named'
study 2 --recipes bf16 --seeds 1 --out three --set evaluation.every=4
grep -q 'evaluation.every: does not divide steps' err || complain 'the end is not evaluated'
study 2 --recipes , --out three
study 2 --seeds 18 --out three
"$NARROWGAUGE" study 2> err && complain 'no configuration: exit 0'

exit $failed
