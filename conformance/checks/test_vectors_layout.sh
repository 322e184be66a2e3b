#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# The files of narrowgauge vectors are what docs/vectors.md says, read with NumPy
# and nothing of ours: types, shapes, metadata, .npy beside safetensors, and the
# manifest's counts counted once more.
set -u
NARROWGAUGE=${NARROWGAUGE:-./narrowgauge}
python3 -c 'import numpy' 2> /dev/null || {
    echo 'SKIP: python3 has no numpy'
    exit 77
}
scratch=$(mktemp -d) || exit 99
trap 'rm -rf "$scratch"' EXIT
cd "$scratch" || exit 99

# write OPERATION NAME=VALUE...: every type that a file can hold is in one of them.
write() {
    local operation=$1 set
    local -a arguments
    shift
    for set in "$@"; do arguments+=(--set "$set"); done
    "$NARROWGAUGE" vectors --op "$operation" "${arguments[@]}" --npy --out "$operation" > out || exit 1
}
write quantize_mxfp4 rounding=stochastic mxfp4.scale=floor x=bf16 scales=ue8m0x4
write quantize_fp8_row rounding=nearest-even fp8.scale=pow2 x=fp16 scales=ue8m0
write mxfp4_to_fp8_col rounding=nearest-even overflow=saturate headroom=0 from=ue8m0x4 to=fp32
write dequantize_mxfp4 overflow=ieee scales=ue8m0 y=bf16
write compand_momentum linear=no state.compand=ng

cat > layout.py << 'PYTHON'
import glob, json, os
import numpy as np

CARRIER = {"bf16": "U16", "e4m3": "U8", "ue8m0": "U8", "e2m1x2": "U8", "ue8m0x4": "U32", "ue6m10": "U16"}
PLAIN = {"F32": "<f4", "F16": "<f2", "U8": "|u1", "I8": "|i1", "U16": "<u2", "U32": "<u4", "U64": "<u8", "I64": "<i8"}
seen = set()


def read(path):
    raw = open(path, "rb").read()
    n = 8 + int.from_bytes(raw[:8], "little")
    head = json.loads(raw[8:n])
    about = head.pop("__metadata__")
    tensors, end = {}, 0
    for name, t in head.items():            # one after the other, without a gap
        first, last = t["data_offsets"]
        assert first == end, (path, name, first, end)
        end = last
        a = np.frombuffer(raw[n + first:n + last], PLAIN[t["dtype"]]).reshape(t["shape"])
        kind = about.get("dtype." + name, "")
        assert kind == "" or CARRIER[kind] == t["dtype"], (name, kind, t["dtype"])
        seen.add(kind or t["dtype"])
        tensors[name] = a
        copy = np.load(os.path.join(path[:-len(".safetensors")], name.replace("/", ".") + ".npy"))
        assert copy.dtype.str == PLAIN[t["dtype"]] and copy.shape == a.shape, (name, copy.dtype)
        assert copy.tobytes() == a.tobytes(), name
    assert n + end == len(raw), path
    assert len(glob.glob(path[:-len(".safetensors")] + "/*")) == len(tensors)
    return about, tensors


def blocks(x, kind):
    """Of 32 numbers, at the ends of rows fewer: all zero, with a NaN, with an infinity."""
    word = x.view("<u2" if x.itemsize == 2 else "<u4").astype(np.int64)
    infinity = {"bf16": 0x7F80, "F16": 0x7C00, "F32": 0x7F800000}[kind]
    word &= 0x7FFF if x.itemsize == 2 else 0x7FFFFFFF
    rows = word.reshape(-1, x.shape[-1]) if x.size else word.reshape(0, 1)
    found = [0, 0, 0]
    for first in range(0, rows.shape[1], 32):
        b = rows[:, first:first + 32]
        found = [found[0] + int((b == 0).all(1).sum()), found[1] + int((b > infinity).any(1).sum()),
                 found[2] + int((b == infinity).any(1).sum())]
    return found


for folder in sorted(f for f in os.listdir() if os.path.isdir(f)):
    manifest = json.load(open(folder + "/manifest.json"))
    assert manifest["format"] == "narrowgauge-vectors-1" and manifest["operation"] == folder
    for variant in manifest["variants"]:
        about, inputs = read(f"{folder}/{variant['files']}.inputs.safetensors")
        about_y, outputs = read(f"{folder}/{variant['files']}.expected.safetensors")
        for a in (about, about_y):
            assert a["format"] == "narrowgauge-vectors-1" and a["operation"] == folder
            assert a["profile"] == "ng" and a["seed"] == "1" and a["variant"] == variant["variant"]
            assert a["rule.rounding"] and a["rule.overflow"]
        cases = list(dict.fromkeys(k.split("/")[0] for k in inputs))
        assert cases == list(dict.fromkeys(k.split("/")[0] for k in outputs))
        count = {"cases": len(cases), "zero_blocks": 0, "nan_blocks": 0, "infinite_blocks": 0, "ragged_cases": 0,
                 "empty_groups": 0, "elements": 0}
        for case in cases:
            x, y = inputs.get(case + "/x"), [outputs[k] for k in outputs if k.startswith(case + "/")]
            assert int(about[case + "/random.seed"]) >= 0 and int(about[case + "/random.stream"]) >= 0
            count["elements"] += y[0].size
            if x is not None:
                found = blocks(x, about.get("dtype." + case + "/x", {"<f4": "F32", "<f2": "F16"}.get(x.dtype.str)))
                for key, n in zip(("zero_blocks", "nan_blocks", "infinite_blocks"), found):
                    count[key] += n
            if folder == "quantize_mxfp4":      # the even element low: the other nibble of an odd row's end is spare
                rows, cols = x.shape
                assert cols == int(about[case + "/cols"]) and y[0].shape == (rows, -(-cols // 2))
                assert cols % 2 == 0 or not (y[0][:, -1] >> 4).any()
            offsets = inputs.get(case + "/offsets")
            if offsets is not None:
                assert offsets.dtype == np.dtype("<i8") and offsets[0] == 0 and (np.diff(offsets) >= 0).all()
                count["ragged_cases"] += 1
                count["empty_groups"] += int((np.diff(offsets) == 0).sum())
        for key, n in count.items():
            assert variant["counts"][key] == n, (folder, key, variant["counts"][key], n)
    for key in ("cases", "elements", "empty_groups"):
        assert manifest["counts"][key] == sum(v["counts"][key] for v in manifest["variants"])
missing = {*CARRIER, "F32", "F16", "I8", "I64", "U64"} - seen
assert not missing, missing
PYTHON
python3 layout.py || {
    echo 'FAIL the files are not what docs/vectors.md says'
    exit 1
}
