#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# mpirun -n N narrowgauge train: any number of ranks gives the same bits, ranks
# without a shard included (cases.md L-25); a run goes on with another number.
# shellcheck source=/dev/null
. "${NG_SRCDIR:-.}/conformance/checks/train_runs.sh"
failed=0

skip() {
    echo "SKIP: $*"
    exit 77
}

command -v mpirun > /dev/null || skip 'no mpirun'
[ -f "${NG_BUILDDIR:-.}/.libs/narrowgauge-mpi.so" ] ||
    skip 'narrowgauge-mpi.so was not built'
mpirun -n 2 true > out 2>&1 || skip "mpirun does not run: $(head -n 1 out)"

# ranks N WANTED_STATUS ARGUMENT...
ranks() {
    local n=$1 want=$2
    shift 2
    timeout -k 5 300 mpirun -n "$n" "$NARROWGAUGE" train --config tiny.yaml --quiet \
        "$@" > out 2> err
    local got=$?
    [ $got -eq "$want" ] || complain "$n ranks, train $*: exit $got, not $want"
}

# Five shards: two ranks have 2 and 3, four have at most 2 and at least 1, seven
# have none on two of them; five experts likewise.
for recipe in bf16 fp8 mxfp4; do
    train 0 --quiet --recipe $recipe --set run=one-$recipe --steps 8
    for n in 2 4; do
        ranks $n 0 --recipe $recipe --set run=$n-$recipe --steps 8
        [ "$(grep -c 'step 8 of' out)" -eq 1 ] || complain "$n ranks: not one summary"
        same one-$recipe $n-$recipe "$recipe on $n ranks"
        grep -q '"wire":[1-9]' $n-$recipe/log.jsonl ||
            complain "$recipe on $n ranks: nothing was sent"
    done
    grep -q '"wire":[1-9]' one-$recipe/log.jsonl &&
        complain "$recipe on one rank: something was sent"
done

# Counted in the log: what MXFP4 sends forward and keeps of the experts is at
# most half of BF16's.
counted() {
    sed -n 's/.*"step":8,.*"dispatch":\([0-9]*\),"combine":\([0-9]*\),.*"moe":\([0-9]*\),.*/\1 \2 \3/p' \
        "one-$1/log.jsonl"
}
read -r sent back kept < <(counted bf16)
read -r sent4 back4 kept4 < <(counted mxfp4)
echo "mxfp4 of bf16, bytes: forward $((sent4 + back4)) of $((sent + back)), kept $kept4 of $kept"
if ((2 * (sent4 + back4) > sent + back || 2 * kept4 > kept)); then
    complain 'more than half'
fi

ranks 7 0 --set run=seven --steps 8
same one-bf16 seven 'ranks without a shard'

# Stopped on 4, gone on with on 1, 3 and 7.
ranks 4 0 --set run=parts --steps 2
train 0 --quiet --set run=parts --resume parts --steps 4
ranks 3 0 --set run=parts --resume parts --steps 5
ranks 7 0 --set run=parts --resume parts --steps 8
same one-bf16 parts 'another number of ranks'

# What one rank finds wrong ends them all, with its words.
ranks 2 2 --set run=parts --resume parts --set model.experts=6
grep -q 'model.experts: the checkpoint has 5, this run 6' err || complain 'no reason'
ranks 3 2 --set steps=0
[ "$(grep -c 'narrowgauge train:' err)" -eq 1 ] || complain 'said more than once'
ranks 2 2 --set run=/dev/null/x
grep -q '/dev/null' err || complain 'rank 0 failed alone: no reason'

# A rank that cannot write while the others compute ends them all: none waits.
timeout -k 5 300 mpirun -n 3 "$NARROWGAUGE" train --config tiny.yaml --quiet \
    --set run=lost --set steps=100000 --set checkpoint.every=20 > out 2> err &
pid=$!
for ((i = 0; i < 1200; i++)); do
    n=$(grep -c '"event":"step"' lost/log.jsonl 2> delta.txt)
    [ "${n:-0}" -ge 1 ] && break
    sleep 0.05
done
rm -rf lost
touch lost
wait $pid
case $? in
0 | 124 | 137) complain 'a lost directory: ended as if well, or never' ;;
esac
grep -q 'narrowgauge train: lost' err || complain 'a lost directory: no reason'

# Every rank prints the same sample, rank 0 alone.
ranks 2 0 --set run=parts --resume parts --sample 'The '
cp out two
train 0 --quiet --set run=parts --resume parts --sample 'The '
cmp out two || complain 'another sample on two ranks'

exit $failed
