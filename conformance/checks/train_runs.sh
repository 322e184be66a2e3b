# SPDX-License-Identifier: Apache-2.0
#
# What the tests of `narrowgauge train` share: a tiny run, and what must be the
# same in two of them. To be sourced.
# shellcheck shell=bash
set -u
NARROWGAUGE=${NARROWGAUGE:-./narrowgauge}
srcdir=$(cd "${NG_SRCDIR:-.}" && pwd)
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_MCA_rmaps_base_oversubscribe=1 OMP_NUM_THREADS=1

scratch=$(mktemp -d) || exit 99
trap 'rm -rf "$scratch"' EXIT
cd "$scratch" || exit 99

# shellcheck disable=SC2034 # the test ends with it
complain() {
    echo "FAIL $*"
    [ ! -f out ] || head -c 600 out err
    failed=1
}

# A model of a few thousand parameters that still has every part, five shards a
# step, and a text that every checkout has.
cp "$srcdir/LICENSE" text
cat > tiny.yaml <<'END'
run: none
seed: 7
steps: 24
model:
  vocabulary: 256
  hidden: 32
  layers: 2
  length: 32
  attention: mla
  heads: 2
  q_rank: 16
  kv_rank: 16
  nope_dim: 8
  rope_dim: 8
  v_dim: 8
  ffn: 32
  dense_layers: 1
  experts: 5
  shared_experts: 1
  top_k: 2
  expert_ffn: 16
  bias_speed: 0.001
data: {train: text, validation_share: 0.1}
batch: {sequence: 16, sequences: 2, shards: 5}
optimizer: {lr: 0.003}
schedule: {warmup: 4}
evaluation: {every: 6, sequences: 7}
checkpoint: {every: 4, keep: 2, shard_mib: 1}
sample: {every: 12, tokens: 8, prompt: The}
END

# train WANTED_STATUS ARGUMENT...
train() {
    local want=$1
    shift
    "$NARROWGAUGE" train --config tiny.yaml "$@" > out 2> err
    local got=$?
    [ $got -eq "$want" ] || complain "train $*: exit $got, not $want"
}

# Times, the bytes that went to other ranks, and those of a rank's own parameters
# are all that may differ in two logs; and so the length of the log, which a manifest
# holds, and its checksum.
stable_log() {
    sed -E -e 's/"seconds":[^,]*,"tokens_per_second":[^,]*,//; s/"wire":[0-9]*//' \
        -e 's/"bytes":\{[^}]*\}//' "$1/log.jsonl"
}

# same RUN RUN WHAT: the last checkpoints hold the same bits, the logs the same.
same() {
    local one two file
    one=$(printf '%s\n' "$1"/step-* | tail -n 1)
    two=$(printf '%s\n' "$2"/step-* | tail -n 1)
    [ "${one##*/}" = "${two##*/}" ] || complain "$3: $one and $two"
    for file in "$one"/*.safetensors; do
        cmp "$file" "$two/${file##*/}" || complain "$3: another ${file##*/}"
    done
    diff <(grep -vE '"(log|checksum)":' "$one/manifest.json") \
        <(grep -vE '"(log|checksum)":' "$two/manifest.json") ||
        complain "$3: another manifest"
    diff <(stable_log "$1") <(stable_log "$2") > delta.txt ||
        { complain "$3: another log"; cut -c1-250 delta.txt | head -n 6; }
}
