#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# The exhaustive claims: every one is in reports/proofs.json, whole and true; a
# seeded sample of each long one holds on this machine too, and the short ones
# hold whole.
set -u

prove=${NG_BUILDDIR:-.}/prove
[ -x "$prove" ] || exit 77

"$prove" --check "${NG_SRCDIR:-.}/reports/proofs.json" || exit 1
"$prove" --sample 2 --seed 20261129 --only encode || exit 1
"$prove" --only identity || exit 1
