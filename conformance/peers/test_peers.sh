#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# The profiles ml-dtypes and gfloat against the packages themselves, from the
# inputs of level 0; and the comparison finds a profile that states a rule wrong.
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

"$python" "$here/run.py" --narrowgauge "$NARROWGAUGE" --quick \
    --report "$scratch/peers.json" ml_dtypes gfloat
status=$?
[ $status -eq 77 ] && exit 77
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
