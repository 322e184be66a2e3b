#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# narrowgauge train: stopped and resumed it ends in the same bits as never
# stopped; errors are one line and a status; damaged checkpoints are refused.
# shellcheck source=/dev/null
. "${NG_SRCDIR:-.}/conformance/checks/train_runs.sh"
failed=0

# ---- a run, stopped and resumed ----------------------------------------------
train 0 --quiet --set run=whole
[ "$(grep -c '"event":"step"' whole/log.jsonl)" -eq 24 ] || complain 'not 24 steps'
[ "$(grep -c '"event":"evaluation"' whole/log.jsonl)" -eq 4 ] ||
    complain 'not 4 evaluations'
[ "$(grep -c '"event":"sample"' whole/log.jsonl)" -eq 2 ] || complain 'not 2 samples'
[ "$(printf '%s\n' whole/step-* | wc -l)" -eq 2 ] || complain 'not 2 checkpoints kept'
grep -q '^whole: step 24 of 24, validation loss [0-9]' out || complain 'no summary'
awk -F'"loss":' '/"event":"evaluation"/ { split($2, x, "[,}]"); last = x[1] + 0 }
    END { exit !(last > 0 && last < 5.5) }' whole/log.jsonl ||
    complain 'nothing was learned'

train 0 --quiet --set run=again
same whole again 'twice the same'
OMP_NUM_THREADS=3 train 0 --quiet --set run=threads
same whole threads 'three threads'

train 0 --quiet --set run=parts --steps 7
[ -d parts/step-0000000007 ] || complain 'no checkpoint where it stopped'
train 0 --quiet --set run=parts --resume parts --steps 8
train 0 --quiet --set run=parts --resume parts/step-0000000007
same whole parts 'stopped and resumed'

# A finished run has nothing left to do.
train 0 --quiet --set run=parts --resume parts --json
grep -q '"step": 24' out || complain 'resumed at the end'
same whole parts 'resumed at the end'

# Gone on from an earlier checkpoint: what is written then is the last one, and the
# steps that were given up are gone (keep: 2; the newest were kept, of the old run).
train 0 --quiet --set run=back --steps 12
train 0 --quiet --set run=back --resume back/step-0000000008 --steps 9
[ "$(printf '%s ' back/step-*)" = 'back/step-0000000008 back/step-0000000009 ' ] ||
    complain "gone back: $(printf '%s ' back/step-*)"
train 0 --quiet --set run=back --resume back
same whole back 'gone back'

# SIGTERM ends it after a step, with a checkpoint.
"$NARROWGAUGE" train -c tiny.yaml --quiet --set run=term > out 2> err &
pid=$!
for ((i = 0; i < 1200; i++)); do
    n=$(grep -c '"event":"step"' term/log.jsonl 2> delta.txt)
    [ "${n:-0}" -ge 2 ] && break
    sleep 0.05
done
kill -TERM $pid
wait $pid || complain "SIGTERM: exit $?"
grep -q '^to go on: --resume term' out || [ -d term/step-0000000024 ] ||
    complain 'SIGTERM: not said how to go on'
train 0 --quiet --set run=term --resume term
same whole term 'SIGTERM'

# On a terminal the line that is drawn anew goes before the last word comes.
if command -v script > delta.txt; then
    script -qec "'$NARROWGAUGE' train -c tiny.yaml --set run=seen --set evaluation.every=0 \
        --steps 20" seen.txt > delta.txt 2> delta.txt < /dev/null
    grep -q 'seen: step 20 of 24' seen.txt || complain 'a terminal: no last word'
    if grep -q 'leftseen: step' seen.txt; then
        complain 'a terminal: the last word behind the drawn line'
    fi
fi

# ---- other recipes, optimizers and ways ----------------------------------------
for set in optimizer.states=fp32 optimizer.kind=lion optimizer.kind=sgd \
    optimizer.profile=flashoptim schedule.kind=linear data.format=nanogpt; do
    extra=(--set "run=${set##*.}" --set "$set")
    case $set in
    data.format=nanogpt) # the text as uint16, in its own file
        od -An -v -tu1 -w1 text | awk '{ printf "%c%c", $1, 0 }' > tokens.bin 2> delta.txt
        LC_ALL=C awk 'BEGIN { for (i = 0; i < 20000; i++)
            printf "%c%c", 97 + i * i % 23, 1 > "tokens.bin" }' < text
        extra+=(--set data.train=tokens.bin --set model.vocabulary=512
            --set model.hidden=8)
        ;;
    esac
    train 0 --quiet --steps 4 "${extra[@]}"
    train 0 --quiet "${extra[@]}" --set run=other --steps 2
    train 0 --quiet "${extra[@]}" --set run=other --resume other --steps 4
    same "${set##*.}" other "$set"
    rm -rf other "${set##*.}"
done

# ---- sampling --------------------------------------------------------------------
train 0 --quiet --resume whole --set run=whole --sample 'The '
head -c 4 out | grep -q '^The ' || complain 'the sample has no prompt'
[ "$(wc -c < out)" -eq 13 ] || complain 'not 8 tokens and a line feed'
same whole again 'sampling writes nothing'

# ---- damage ----------------------------------------------------------------------
last=parts/step-0000000024
cp -r "$last" kept
damaged() {
    train 2 --quiet --set run=parts --resume parts
    [ "$(wc -l < err)" -eq 1 ] || complain "$1: not one line"
    grep -q "$2" err || complain "$1: not named"
    rm -rf "$last"
    cp -r kept "$last"
}
file=$last/parameters-00000.safetensors
truncate -s -1 "$file" && damaged truncated 'parameters-00000.safetensors: size'
printf 'x' | dd of="$file" bs=1 seek=5000 conv=notrunc 2> delta.txt &&
    damaged altered 'parameters-00000.safetensors: checksum'
rm "$last/router.safetensors" && damaged missing 'router.safetensors'
sed -i 's/"skipped": 0/"skipped": 1/' "$last/manifest.json" &&
    damaged 'manifest altered' 'manifest.json: checksum'
truncate -s 100 parts/log.jsonl && damaged 'short log' 'log.jsonl: log'
train 2 --quiet --set run=parts --resume parts --set model.experts=6
grep -q 'model.experts: the checkpoint has 5, this run 6' err || complain 'another model'
train 2 --quiet --set run=parts --resume parts --recipe fp8
grep -q 'recipe: the checkpoint has "bf16", this run "fp8"' err || complain 'another recipe'
cp text other.txt && echo >> other.txt
train 2 --quiet --set run=parts --resume parts --set data.train=other.txt
grep -q 'data.train: the checkpoint has' err || complain 'another text'
train 2 --quiet --set run=parts --resume nowhere
grep -q 'nowhere: resume: there is no checkpoint' err || complain 'nothing to resume'

# Another's log under way: the run is left alone.
flock back/log.jsonl -c 'sleep 5' &
sleep 0.3
train 4 --quiet --set run=back --resume back
kill %% 2> delta.txt
grep -q 'back/log.jsonl: lock: .*another process writes it' err || complain 'two at a time'
same whole back 'two at a time'

# A recipe is what it says, not what it is called.
sed -e 's/^name .*/name mine/' "${srcdir:?}/configs/recipes/bf16.recipe" > mine.recipe
train 0 --quiet --set run=mine --recipe ./mine.recipe --steps 2
sed -i 's/^expert.send_x .*/expert.send_x fp8/' mine.recipe
train 2 --quiet --set run=mine --recipe ./mine.recipe --resume mine
grep -q 'recipe.expert: the checkpoint has "multiply bf16 bf16' err || complain 'another mine'
sed -i 's/^expert.send_x .*/expert.send_x bf16/' mine.recipe
echo 'layer 1 ffn.multiply fp8' >> mine.recipe
train 2 --quiet --set run=mine --recipe ./mine.recipe --resume mine
grep -q 'recipe.layer 1.ffn: the checkpoint has none' err || complain 'another layer'

# ---- errors ----------------------------------------------------------------------
refused() {
    local want=$1 status=$2
    shift 2
    train "$status" --quiet --set run=bad "$@"
    [ "$(wc -l < err)" -eq 1 ] || complain "$*: not one line"
    grep -qF -- "$want" err || complain "$*: not: $want"
    [ ! -e bad ] || complain "$*: a run was begun"
}
sed 's/rope_dim: 8/rope_dim: 7/' tiny.yaml > odd.yaml
refused 'steps=0: steps: "0" is out of range' 2 --set steps=0
refused 'nothing=1: nothing: there is no such field' 2 --set nothing=1
refused 'optimizer.kind: "adamx" is none of its choices (sgd' 2 --set optimizer.kind=adamx
refused 'tiny.yaml:24: batch.sequence: is longer than model.length' 2 --set model.length=8
refused 'model.top_k: 9 is not in 1..5' 2 --set model.top_k=9
refused 'odd.yaml:14: model.rope_dim: 7 is odd' 2 --config odd.yaml
refused 'optimizer.eps: 0 is not positive' 2 --set optimizer.eps=0
refused 'optimizer.profile: ' 2 --set optimizer.profile=nosuch
refused 'schedule.warmup: is more than steps' 2 --set steps=3
refused 'gone: open: ' 2 --set data.train=gone
refused 'no such backend' 2 --backend abacus
refused 'nosuch' 2 --recipe nosuch
refused 'is not UTF-8' 2 --set $'about=\xff'
refused 'model.hidden: with the other sizes about' 2 --set model.hidden=1048576 \
    --set model.experts=65536 --set model.expert_ffn=1048576
refused 'batch.sequences: makes shards of more' 2 --set batch.sequences=65536 \
    --set batch.sequence=8192 --set model.length=8192
printf '\1\1\0\2' > past.bin
refused 'past.bin: tokens: number 1 is 512, the vocabulary has 512' 2 \
    --set data.train=past.bin --set model.vocabulary=512
printf '%8000s' '' > plain.bin
refused 'text: tokens: are of another kind (bytes) than those of plain.bin (nanogpt)' 2 \
    --set data.train=plain.bin --set model.vocabulary=65536 --set data.validation=text
refused '--sample: needs --resume' 2 --sample x
refused 'are too few' 2 --set data.validation_share=0.0001
train 2 --quiet --set run=whole
grep -q 'whole: run: holds checkpoints' err || complain 'a run over another'
train 2 --quiet --set run=/dev/null/x
grep -q '/dev/null: directory\|/dev/null/x: directory' err || complain 'no directory'
sed 's/^steps:/step:/' tiny.yaml > typo.yaml
"$NARROWGAUGE" train -c typo.yaml 2> err && complain 'typo: exit 0'
grep -q 'typo.yaml:3: step: there is no such field' err || complain 'typo: no line'
"$NARROWGAUGE" train 2> err && complain 'no configuration: exit 0'
train 0 --explain --json --set optimizer.kind=sgd --set optimizer.momentum=0 \
    --set optimizer.states=fp32
parameters=$(sed -n 's/^ "parameters": \([0-9]*\).*/\1/p' out)
grep -q "\"optimizer_bytes\": $((4 * parameters))\.0" out || complain 'SGD alone has no state'
"$NARROWGAUGE" train --fields > out || complain '--fields'
grep -q '^model.hidden  *whole ' out || complain '--fields lists nothing'

# ---- what a configuration would cost, by arithmetic alone ---------------------------
"$NARROWGAUGE" train --config "${srcdir:?}/configs/deepseek-v3.yaml" --explain --json \
    --ranks 32 --set model.mtp_depth=0 > out 2> err || complain '--explain: exit not 0'
grep -q '"parameters": 671026404352' out || complain 'not the 671B parameters of DeepSeek-V3'
for name in tiny small; do
    "$NARROWGAUGE" train --config "${srcdir:?}/configs/$name-moe.yaml" --explain > out 2> err ||
        complain "$name-moe: --explain"
done

# Gradients that are not finite: the weights stay, the steps are counted.
train 1 --quiet --set run=skip --set optimizer.lr=1e6 --set optimizer.kind=sgd \
    --set optimizer.clip=0 --set optimizer.states=fp32
grep -q '"taken":false' skip/log.jsonl || complain 'nothing was skipped'
grep -q ' [1-9][0-9]* steps skipped' out || complain 'skipped steps are not counted'

exit $failed
