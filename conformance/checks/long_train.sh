#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# For make check-long: with each recipe tiny-moe's validation loss falls below
# what a trigram model of the same text has (a quarter of an hour each on two
# cores); and training survives a hundred kills.
set -u
NARROWGAUGE=${NARROWGAUGE:-./narrowgauge}
srcdir=$(cd "${NG_SRCDIR:-.}" && pwd)
scratch=$(mktemp -d) || exit 99
trap 'rm -rf "$scratch"' EXIT
cd "$scratch" || exit 99
failed=0

sh "$srcdir/configs/prepare_text.sh" text.txt || exit 77
for recipe in bf16 fp8 mxfp4; do
    "$NARROWGAUGE" train --config "$srcdir/configs/tiny-moe.yaml" --recipe $recipe \
        --set run=$recipe --quiet --json > $recipe.json || {
        echo "FAIL tiny-moe, $recipe: exit $?"
        failed=1
        continue
    }
    awk -v recipe=$recipe -F'[:,]' '
        /"evaluation"/ { loss = $2 + 0 }
        /"trigram"/ { trigram = $2 + 0 }
        END {
            printf "tiny-moe, %s: %.4f, a trigram model %.4f\n", recipe, loss, trigram
            exit !(loss > 0 && loss < trigram)
        }' $recipe.json || {
        echo "FAIL tiny-moe, $recipe: not below the trigram model"
        failed=1
    }
done
NG_KILLS=100 NG_SEED=2 bash "$srcdir/conformance/checks/test_train_killed.sh" || failed=1
exit $failed
