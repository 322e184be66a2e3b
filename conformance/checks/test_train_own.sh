#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# narrowgauge train with a kernel of one's own (SITE.operation of a recipe): the
# reference behind a plug-in changes no bit, on any number of ranks; a wrong kernel
# changes the loss; one that fails ends the run in one line and leaves the last
# checkpoint whole.
# shellcheck source=/dev/null
. "${NG_SRCDIR:-.}/conformance/checks/train_runs.sh"
failed=0
modules=${NG_BUILDDIR:-.}/.libs
for name in reference hostile; do
    if [ ! -e "$modules/plugin_$name.so" ]; then
        echo 'SKIP: no shared libraries in this build'
        exit 77
    fi
    ln -s "$modules/plugin_$name.so" "$name.so"
done
ln -s "$modules/narrowgauge-faults.so" faults.so

# A build with sanitizers leaves the plug-in's signals to the system.
export ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}handle_segv=0:handle_sigbus=0:handle_abort=0
"$NARROWGAUGE" ops | sed -n 's/^\([a-z0-9_]\{1,\}\) .*/\1/p' > operations
export NG_PLUGIN_OPERATIONS=${scratch:?}/operations

# recipe BASE LINE...: own.recipe, an embedded one and lines; its comments go, so
# that a line is where it is counted.
recipe() {
    local base=$1
    shift
    { grep -vE '^(#|$)' "${srcdir:?}/configs/recipes/$base.recipe"; printf '%s\n' "$@"; } \
        > own.recipe
}

# One line, which says so, and a status.
told() {
    [ "$(wc -l < err)" -eq 1 ] || { complain "$1: not one line"; cat err; }
    grep -qF -- "$1" err || { complain "not told: $1"; cat err; }
}

# ---- the same bits ------------------------------------------------------------
stable_log() { # but for what is not counted, and the kernels' names
    sed -E -e 's/"seconds":[^,]*,"tokens_per_second":[^,]*,//; s/"wire":[0-9]*//' \
        -e 's/"bytes":\{[^}]*\}//; s/"(operations":\{[^}]*\}|configuration":"[^"]*")//g; s/"converted":\{[^}]*\}//' \
        "$1/log.jsonl"
}

# alike RUN RUN WHAT: as same, but the checkpoints name different kernels.
alike() {
    local one two
    one=$(printf '%s\n' "$1"/step-* | tail -n 1)
    two=$(printf '%s\n' "$2"/step-* | tail -n 1)
    for file in "$one"/*.safetensors; do
        cmp "$file" "$two/${file##*/}" || complain "$3: another ${file##*/}"
    done
    diff <(stable_log "$1") <(stable_log "$2") > delta.txt || complain "$3: another log"
}

short=(--quiet --steps 4 --set checkpoint.every=2)
for base in bf16 mxfp4; do
    train 0 "${short[@]}" --recipe "$base" --set run="$base"
done
sites=(expert:quantize_mxfp4 expert:quantize_fp8_row expert:quantize_fp8_col
    expert:quantize_fp8_tile expert:transpose_fp8_tile expert:mxfp4_to_fp8_row
    expert:mxfp4_to_fp8_col attention:fp8_row_to_fp8_col expert:grouped_gemm_fprop
    expert:grouped_gemm_wgrad)
for pair in "${sites[@]}"; do
    recipe mxfp4 "${pair%:*}.operation ./reference.so:${pair#*:}"
    rm -rf own
    train 0 "${short[@]}" --recipe own.recipe --set run=own
    alike mxfp4 own "$pair"
    grep -q '"uncounted":[1-9]' own/log.jsonl && [[ ${pair#*:} = *gemm* ]] &&
        complain "$pair: a product is counted as quantised"
done
grep -q '"operations":{"expert":"./reference.so:grouped_gemm_wgrad"}' own/log.jsonl ||
    complain 'the kernel is not in the log'

# In every layer, by the MPFR oracle, without a process.
if "$NARROWGAUGE" ops --subjects | grep -q '^oracle'; then
    recipe mxfp4 'expert.operation oracle:quantize_mxfp4' \
        'shared.operation oracle:quantize_mxfp4'
    rm -rf own
    train 0 "${short[@]}" --recipe own.recipe --set run=own
    alike mxfp4 own oracle
fi

# SwiGLU is bounded: other bits, the same loss to five digits.
loss() {
    sed -n 's/.*"event":"step","step":4,"loss":\([0-9.]*\),.*/\1/p' "$1/log.jsonl"
}
for pair in shared:swiglu ffn:swiglu_backward mxfp4=ffn:swiglu_fp8_row; do
    base=bf16
    [[ $pair = *=* ]] && base=${pair%=*}
    pair=${pair#*=}
    recipe "$base" "${pair%:*}.operation ./reference.so:${pair#*:}"
    rm -rf own
    train 0 "${short[@]}" --recipe own.recipe --set run=own
    awk -v a="$(loss own)" -v b="$(loss "$base")" \
        'BEGIN { d = a - b; exit !(a > 0 && d * d < 1e-8) }' || complain "$pair: $(loss own), not $(loss "$base")"
done

# ---- ranks, and going on ---------------------------------------------------------
recipe mxfp4 'expert.operation ./reference.so:quantize_mxfp4'
if command -v mpirun > /dev/null && [ -f "$modules/narrowgauge-mpi.so" ] &&
    mpirun -n 2 true > out 2>&1; then
    timeout -k 5 120 mpirun -n 2 "$NARROWGAUGE" train --config tiny.yaml "${short[@]}" \
        --recipe own.recipe --set run=two > out 2> err || complain 'two ranks: exit not 0'
    alike mxfp4 two 'two ranks'
    sed 's/reference/hostile/' own.recipe > bad.recipe
    HOSTILE=crash HOSTILE_OPERATION=quantize_mxfp4 timeout -k 5 120 mpirun -n 2 "$NARROWGAUGE" \
        train --config tiny.yaml "${short[@]}" --recipe bad.recipe --set run=bad > out 2> err
    [ $? -eq 3 ] || complain 'two ranks: a crash is not exit 3'
    grep -q 'layer 1, expert.operation ./hostile.so:quantize_mxfp4: ' err ||
        complain 'two ranks: not told'
fi
rm -rf own
train 0 --quiet --steps 2 --recipe own.recipe --set run=own --set checkpoint.every=2
train 0 "${short[@]}" --recipe own.recipe --set run=own --resume own
alike mxfp4 own 'stopped and resumed'
train 2 "${short[@]}" --recipe mxfp4 --set run=own --resume own
told 'recipe.expert.operation: the checkpoint has "./reference.so:quantize_mxfp4", this run "none"'
train 2 "${short[@]}" --recipe own.recipe --set run=mxfp4 --resume mxfp4
told 'recipe.expert.operation: the checkpoint has "none", this run "./reference.so:quantize_mxfp4"'
recipe mxfp4 'expert.operation ./reference.so:quantize_fp8_row'
train 2 "${short[@]}" --recipe own.recipe --set run=own --resume own
told 'recipe.expert.operation: the checkpoint has "./reference.so:quantize_mxfp4", this run "./reference.so:quantize_fp8_row"'

# ---- a study of it ---------------------------------------------------------------
study=(study --config tiny.yaml --quiet --seeds 2 --jobs 2 --set steps=4
    --set evaluation.every=2 --set sample.every=0)
recipe mxfp4 'expert.operation ./reference.so:quantize_mxfp4'
sed -i 's/^name .*/name own/' own.recipe
"$NARROWGAUGE" "${study[@]}" --recipes mxfp4,own.recipe --out study > out 2> err ||
    complain "study: exit $?"
grep -q '^| own | .* | +0.000 \[+0.000, +0.000\] |' study/convergence.md ||
    { complain 'study: deviates'; cat study/convergence.md; }
sed -i 's/reference/hostile/; s/^name .*/name bad/' own.recipe
HOSTILE=crash HOSTILE_OPERATION=quantize_mxfp4 "$NARROWGAUGE" "${study[@]}" --seeds 1 \
    --recipes mxfp4,own.recipe --out study > out 2> err
[ $? -eq 3 ] || complain 'study: a crash is not exit 3'
grep -q 'layer 1, expert.operation ./hostile.so:quantize_mxfp4: ' err || complain 'study: not told'

# ---- a wrong kernel --------------------------------------------------------------
export NG_FAULT=mxfp4-ties-away
recipe mxfp4 'expert.operation faults.so:quantize_mxfp4'
train 0 "${short[@]}" --recipe own.recipe --set run=wrong
[ "$(loss wrong)" != "$(loss mxfp4)" ] || complain 'ties away: the same loss'
"$NARROWGAUGE" verify --quiet --subject ./faults.so > out 2>&1
grep -q 'ties go away from zero' out || complain 'ties away: not named'
unset NG_FAULT

# ---- kernels that fail -------------------------------------------------------------
# A checkpoint of the right kernel; then the same path goes wrong.
recipe mxfp4 'expert.operation ./kernel.so:quantize_mxfp4'
ln -s "$modules/plugin_reference.so" kernel.so
train 0 --quiet --steps 2 --recipe own.recipe --set run=kept --set checkpoint.every=2
ln -sf "$modules/plugin_hostile.so" kernel.so
export HOSTILE_OPERATION=quantize_mxfp4
fails() {
    local what=$1 status=$2 words=$3
    shift 3
    HOSTILE=$what train "$status" "${short[@]}" --recipe own.recipe --set run=kept --resume kept "$@"
    told "narrowgauge train: layer 1, expert.operation ./kernel.so:quantize_mxfp4: "
    told "$words"
}
fails crash 3 'crashed: SIGSEGV'
fails hang 3 'hung: no answer after 0.5 s' --timeout 0.5
fails exit 3 'exited with status 0'
fails fail 3 'says that it failed'
fails refuse 3 'refused good input'
fails lack 3 'lists the operation, then says that it lacks it'
fails status 3 'returned 12345'
fails unwritten 3 'left its output y.codes as it was'
fails before 3 'wrote 1 bytes before y.codes'
unset HOSTILE_OPERATION
asks() {
    HOSTILE=$1 train "$2" "${short[@]}" --recipe own.recipe --set run=kept --resume kept
    told "own.recipe:28: expert.operation ./kernel.so:quantize_mxfp4: $3"
}
asks nothing 3 'hostile\x1b'
grep -q 'lacks the operation; it has decode_e4m3, decode_ue8m0' err || complain 'lacks: not told'
asks crash-at-load 3 './kernel.so: crashed'
asks no-gpu 77 './kernel.so: says that it cannot run on this machine'
ln -sf "$modules/plugin_reference.so" kernel.so
train 0 "${short[@]}" --recipe own.recipe --set run=kept --resume kept
alike mxfp4 kept 'gone on after failures'
HOSTILE_OPERATION=quantize_mxfp4 HOSTILE=nothing HOSTILE_MEMORY=cuda
export HOSTILE_OPERATION HOSTILE HOSTILE_MEMORY
if ! [ -e /dev/nvidiactl ]; then
    recipe mxfp4 'expert.operation ./hostile.so:quantize_mxfp4'
    rm -rf own
    train 77 "${short[@]}" --recipe own.recipe --set run=own
    grep -q 'quantize_mxfp4: .*device memory' err || complain 'no GPU: not told'
fi
unset HOSTILE_OPERATION HOSTILE HOSTILE_MEMORY

# ---- what is refused when the recipe is read ----------------------------------------
refused() {
    local words=$1
    shift
    rm -rf own
    recipe mxfp4 "$@"
    train "${status:-2}" "${short[@]}" --recipe own.recipe --set run=own
    told "$words"
    [ ! -e own ] || complain "$words: a run was begun"
}
refused 'own.recipe:28: expert.operation: dequantize_mxfp4: no operation that this site can use; it can use quantize_mxfp4, quantize_fp8_row' \
    'expert.operation ./reference.so:dequantize_mxfp4'
refused 'own.recipe:28: nonsense: not of the form SUBJECT:OPERATION' 'expert.operation nonsense'
refused 'own.recipe:28: expert.operation abacus:quantize_mxfp4: abacus: no such subject' \
    'expert.operation abacus:quantize_mxfp4'
status=3 refused 'own.recipe:28: expert.operation ./gone.so:quantize_mxfp4: ./gone.so: ' \
    'expert.operation ./gone.so:quantize_mxfp4'

# ---- told before --------------------------------------------------------------------
recipe mxfp4 'expert.operation ./gone.so:quantize_mxfp4'
"$NARROWGAUGE" train --config tiny.yaml --recipe own.recipe --explain > out 2> err ||
    complain '--explain: exit not 0'
grep -q "^kernels of the recipe's.*events are not counted" out || complain '--explain: no kernels'
grep -q '^  expert  *quantize_mxfp4  *all layers  *of ./gone.so$' out || complain '--explain: no kernel'

# ---- the example of the guide, which takes FP32 --------------------------------------
if command -v cc > /dev/null; then
    cc -O2 -fPIC -shared -I"$srcdir/conformance/subject" -o example_subject.so \
        "$srcdir/docs/example_subject.c" -lm || complain 'the example does not compile'
    recipe mxfp4 'expert.operation ./example_subject.so:quantize_mxfp4'
    rm -rf own
    train 0 "${short[@]}" --recipe own.recipe --set run=own
    alike mxfp4 own example
    recipe mxfp4 'expert.operation ./example_subject.so:quantize_fp8_row'
    train 3 "${short[@]}" --recipe own.recipe --set run=own2
    told 'example 1.0 lacks the operation; it has quantize_mxfp4'
fi

exit $failed
