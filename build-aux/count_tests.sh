#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# count_tests.sh FILE.trs...: count the results of automake's test harness in one
# line. A test without a file of results never ran, which is a failure.
exec awk '
BEGIN {
    for (i = 1; i < ARGC; i++) {
        n = 0
        while ((getline line < ARGV[i]) > 0) {
            if (line !~ /^:test-result:/) continue
            n++
            if (line ~ /: (PASS|XFAIL)/) passed++
            else if (line ~ /: SKIP/) skipped++
            else failed++
        }
        close(ARGV[i])
        if (!n) failed++
    }
    printf "%d passed, %d failed, %d skipped\n", passed, failed, skipped
    exit failed > 0
}' "$@"
