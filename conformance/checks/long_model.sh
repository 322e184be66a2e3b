#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# For make check-long: the steps of the model on every number of ranks up to eight.
set -u
cd "${NG_BUILDDIR:-.}" || exit 99
test=conformance/checks/test_model_step
make --no-print-directory -s $test || exit 77
NG_LONG=1 ./$test
