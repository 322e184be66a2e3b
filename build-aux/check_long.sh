#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Level 1, then each script of LONG_TESTS; what `make check` samples is whole here.
set -uo pipefail
passed=0 failed=0 skipped=0
export NG_EVERY=1

run() {
    "$@"
    case $? in
    0) passed=$((passed + 1)) ;;
    77) skipped=$((skipped + 1)) && echo "SKIP $*" ;;
    *) failed=$((failed + 1)) && echo "FAIL $*" ;;
    esac
}

run "$NARROWGAUGE" verify --level 1
for script in ${LONG_TESTS:-}; do
    run bash "$NG_SRCDIR/$script"
done
echo "$passed passed, $failed failed, $skipped skipped"
((failed == 0))
