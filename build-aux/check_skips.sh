#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# check_skips.sh BUILD: fail if a test of the last `make check` in BUILD was
# skipped that build-aux/allowed-skips does not name.
set -euo pipefail
cd "$(dirname "$0")/.."
status=0
while read -r trs; do
    name=${trs#"$1"/}
    name=${name%.trs}
    if ! grep -q "^${name}[[:space:]]" build-aux/allowed-skips; then
        echo "unexpected skip: $name" >&2
        status=1
    fi
done < <(find "$1" -mindepth 1 -name '*-build' -prune -o -name '*.trs' \
    -exec grep -l '^:test-result: SKIP' {} +)
exit $status
