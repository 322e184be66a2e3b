#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# The profiles ml-dtypes and gfloat against the packages themselves, from the
# inputs of level 0; and the comparison finds a profile that states a rule wrong.
# Before that, what needs no package: a check with a reason takes the differences
# that it states, no more and no fewer, and blocks are left out by what they hold.
#
#   NG_PYTHON   a python3 with numpy, ml_dtypes and gfloat (requirements.txt)
set -u
NARROWGAUGE=${NARROWGAUGE:-./narrowgauge}
python=${NG_PYTHON:-python3}
here=${NG_SRCDIR:?}/conformance/peers
"$python" -c 'import numpy' 2> /dev/null || {
    echo 'SKIP: python3 has no numpy'
    exit 77
}
scratch=$(mktemp -d) || exit 99
trap 'rm -rf "$scratch"' EXIT
export PYTHONDONTWRITEBYTECODE=1
failed=0

PYTHONPATH=$here "$python" - << 'PY' || failed=1
import numpy as np

import peer_flashoptim
import peer_torchao_pre4725 as pre
import run

stated = {"profile": "p", "operation": "o", "differences": 5, "why": "w", "of": "v"}
for check, differences, wrong in (({}, 0, False), ({}, 1, True), (stated, 5, False), (stated, 0, True),
                                  (stated, 4, True), (stated, 6, True)):
    assert run.judge(check, differences)[1] is wrong, (check, differences)
assert "5 expected (v)" in run.judge(stated, 6)[0]
for half in ({"why": "w"}, {"differences": 5}, {"why": "w", "differences": 0}):
    try:
        run.judge({"profile": "p", "operation": "o", **half}, 5)
    except SystemExit:
        continue
    raise AssertionError(half)
assert all(check["differences"] > 0 and check["why"] for check in peer_flashoptim.CHECKS)
assert not any("why" in check for check in pre.CHECKS)

# Two rows of 67: three blocks, the last of three. An infinity in element 40, and a NaN in the last of all.
x = np.ones((2, 67), np.float32)
x[0, 40], x[1, 66] = -np.inf, np.nan
bf16 = (x.view(np.uint32) >> 16).astype(np.uint16)
scales = [[0, 1, 0], [0, 0, 1]]
for numbers, dtype in ((x, "fp32"), (bf16, "bf16")):
    one, two = pre.not_finite(numbers, dtype, False), pre.not_finite(numbers, dtype, True)
    assert one["y.scales"].tolist() == two["y.scales"].tolist() == [[bool(s) for s in row] for row in scales]
    assert [np.flatnonzero(row).tolist() for row in one["y.codes"]] == [list(range(32, 64)), [64, 65, 66]]
    assert [np.flatnonzero(row).tolist() for row in two["y.codes"]] == [list(range(16, 32)), [32, 33]]
    assert one["y.codes"].shape == (2, 67) and two["y.codes"].shape == (2, 34)
PY
[ $failed -eq 0 ] || echo 'FAIL what a check states, or what is left out'

"$python" "$here/run.py" --narrowgauge "$NARROWGAUGE" --quick \
    --report "$scratch/peers.json" ml_dtypes gfloat
status=$?
[ $status -eq 77 ] && [ $failed -eq 0 ] && exit 77
[ $status -eq 0 ] || failed=1
grep -q '"profile": "gfloat".*"differences": 0' "$scratch/peers.json" || {
    echo 'FAIL the report has no row of gfloat'
    failed=1
}

# ml_dtypes is not what the OCP profile says: it does not saturate.
cat > "$scratch/peer_wrong.py" << 'PY'
from peer_ml_dtypes import PACKAGES, answer
CHECKS = [{"profile": "ocp", "operation": "encode_e4m3"}]
PY
PYTHONPATH=$here "$python" - "$here/run.py" "$scratch" "$NARROWGAUGE" > "$scratch/out" << 'PY'
import runpy
import sys

run, scratch, narrowgauge = sys.argv[1:]
sys.path.insert(0, scratch)
sys.argv = [run, "--narrowgauge", narrowgauge, "wrong"]
runpy.run_path(run, run_name="__main__")
PY
[ $? -eq 1 ] || { echo 'FAIL a wrong profile is equal'; failed=1; }
grep -q 'overflow gives infinity or NaN' "$scratch/out" || {
    echo 'FAIL the diagnosis does not name the overflow'
    cat "$scratch/out"
    failed=1
}
exit $failed
