#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Training is killed with SIGKILL at random moments, again and again, while it
# writes checkpoints all the time: each time it goes on from the last whole one,
# and it ends in the same bits as a run that nobody touched.
#   NG_KILLS  how often (default 12); NG_SEED  of the moments
# shellcheck source=/dev/null
. "${NG_SRCDIR:-.}/conformance/checks/train_runs.sh"
failed=0
kills=${NG_KILLS:-12} RANDOM=${NG_SEED:-1}

often=(--quiet --set checkpoint.every=1 --set evaluation.every=2)
start=$(date +%s%N)
train 0 "${often[@]}" --set run=whole
whole=$(($(date +%s%N) - start))

# Up to a fifth of what the whole run takes, so that some kills come before the
# first checkpoint and most of them between two.
begun=0 killed=0
for ((i = 0; i < kills; i++)); do
    resume=()
    if compgen -G 'run/step-*' > found; then
        resume=(--resume run)
        begun=$((begun + 1))
    fi
    "$NARROWGAUGE" train -c tiny.yaml "${often[@]}" --set run=run "${resume[@]}" \
        > out 2> err &
    pid=$!
    sleep "$(awk -v w=$whole -v r="$RANDOM" 'BEGIN { printf "%.3f", w / 1e9 / 5 * r / 32767 }')"
    kill -KILL $pid 2> delta.txt
    wait $pid 2> delta.txt
    case $? in
    137) killed=$((killed + 1)) ;;
    0) # It was done before: again from the beginning.
        same whole run "killed $killed times"
        rm -rf run
        ;;
    *) complain "kill $i: the run ended by itself" ;;
    esac
done
echo "$killed kills, $begun of them resumed from a checkpoint"
((killed > 0)) || complain 'nothing was killed'
resume=()
compgen -G 'run/step-*' > found && resume=(--resume run)
train 0 "${often[@]}" --set run=run "${resume[@]}"
same whole run "killed $killed times"
[ -z "$(find run -name '.step-*')" ] || complain 'killed runs left something behind'

exit $failed
