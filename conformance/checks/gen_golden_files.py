# SPDX-License-Identifier: Apache-2.0
"""Write golden_safetensors.h and golden_npy.h: files as others write them.

    python3 gen_golden_files.py DIRECTORY     with numpy, safetensors, ml_dtypes

Byte i of an array called NAME is (37 i + the sum of NAME's bytes) mod 256, so
that a test can restate it.
"""
import ctypes
import io
import sys

import ml_dtypes
import numpy as np
import safetensors
import safetensors.numpy

VERSIONS = (f"numpy {np.__version__}, safetensors {safetensors.__version__}, "
            f"ml_dtypes {ml_dtypes.__version__}")


def pattern(name, size):
    return bytes((37 * i + sum(name.encode())) % 256 for i in range(size))


def c_array(name, data):
    rows = [", ".join(f"0x{b:02x}" for b in data[i:i + 12])
            for i in range(0, len(data), 12)]
    return (f"static const unsigned char {name}[{len(data)}] = {{\n    "
            + ",\n    ".join(rows) + "\n};\n")


def write(directory, name, body):
    guard = f"NG_CONFORMANCE_CHECKS_{name.upper()}_H"
    with open(f"{directory}/{name}.h", "w") as out:
        out.write("/* SPDX-License-Identifier: Apache-2.0\n *\n"
                  " * Made by: python3 gen_golden_files.py .\n"
                  f" * {VERSIONS}\n */\n"
                  f"#ifndef {guard}\n#define {guard}\n\n{body}\n#endif\n")


def golden_safetensors():
    """Every type of shape [2][4] elements, named after itself; then what the
    NumPy front end writes: ranks 0 and 3, an empty tensor, a BOOL."""
    types = {"F64": ("float64", 8), "I64": ("int64", 8), "U64": ("uint64", 8),
             "F32": ("float32", 4), "I32": ("int32", 4), "U32": ("uint32", 4),
             "F16": ("float16", 2), "BF16": ("bfloat16", 2),
             "I16": ("int16", 2), "U16": ("uint16", 2),
             "F8_E4M3": ("float8_e4m3fn", 1), "F8_E8M0": ("float8_e8m0fnu", 1),
             "I8": ("int8", 1), "U8": ("uint8", 1),
             "F4": ("float4_e2m1fn_x2", 1)}
    specs, alive = {}, []
    for name, (dtype, size) in types.items():
        shape = [2, 2] if name == "F4" else [2, 4]      # F4: storage shape
        data = pattern(name, shape[0] * shape[1] * size)
        buffer = ctypes.create_string_buffer(data, len(data))
        alive.append(buffer)
        specs[name] = safetensors.TensorSpec(
            dtype=dtype, shape=shape, data_ptr=ctypes.addressof(buffer),
            data_len=len(data))
    every = bytes(safetensors.serialize(specs, {"format": "pt"}))
    some = safetensors.numpy.save({
        "scalar": np.array(-2.5, np.float32),
        "empty": np.zeros((3, 0), np.float16),
        "cube": np.arange(12, dtype=np.int16).reshape(2, 3, 2),
        "flags": np.array([True, False, True])})
    return (c_array("golden_every_type", every) + "\n"
            + c_array("golden_numpy", some))


def golden_npy():
    def save(x, version=None):
        out = io.BytesIO()
        np.lib.format.write_array(out, x, version=version)
        return out.getvalue()

    shapes = [(3,), (2, 2), (), (0, 3), (2, 1, 3), (1, 2, 1, 2)]
    types = ["|u1", "|i1", "<u2", "<i2", "<u4", "<i4", "<u8", "<i8", "<f2",
             "<f4", "<f8"]
    good = []
    for i, descr in enumerate(types):
        shape = shapes[i % len(shapes)]
        size = int(np.prod(shape)) * np.dtype(descr).itemsize
        x = np.frombuffer(pattern(descr, size), descr).reshape(shape)
        good.append((descr, shape, save(x)))
    x = np.frombuffer(pattern("<f4", 24), "<f4").reshape(2, 3)
    good.append(("<f4", (2, 3), save(x, (2, 0))))
    good.append(("<f4", (2, 3), save(x, (3, 0))))
    longest = (0, 1, 10**9, 10**9)      # digits, below 2^63 bytes with 0 as 1
    good.append(("|u1", longest, save(np.zeros(longest, "|u1"))))
    longest = (10**17, 10, 1, 0)
    good.append(("|i1", longest, save(np.zeros(longest, "|i1"))))
    good.append(("|b1", (3,), save(np.array([True, False, True]))))

    bad = [("fortran_order: True", save(np.asfortranarray(x))),
           ("descr: '>f4' is big-endian", save(x.astype(">f4"))),
           ("descr: '|O'", save(np.array([None]))),
           ("descr: a structured type", save(np.zeros(2, "<f4,<i2"))),
           ("descr: '<V2' is raw bytes",
            save(np.zeros(4, ml_dtypes.bfloat16))),
           ("descr: '<V1' is raw bytes",
            save(np.zeros(4, ml_dtypes.float8_e4m3fn))),
           ("descr: '<c8' is not", save(np.zeros(2, "<c8"))),
           ("descr: '<U4' is not", save(np.array(["four"]))),
           ("descr: '<M8[s]' is not", save(np.zeros(2, "<M8[s]"))),
           ("shape: has more than 4 axes", save(np.zeros((1,) * 5, "|u1")))]

    text = "#include <stddef.h>\n#include <stdint.h>\n\n"
    for i, (_, _, data) in enumerate(good):
        text += c_array(f"golden_npy_{i}", data) + "\n"
    for i, (_, data) in enumerate(bad):
        text += c_array(f"refused_npy_{i}", data) + "\n"
    text += ("static const struct golden_npy {\n    const char *descr;\n"
             "    int rank;\n    int64_t shape[4];\n"
             "    const unsigned char *bytes;\n    size_t size;\n"
             "} golden_npy[] = {\n")
    for i, (descr, shape, _) in enumerate(good):
        sizes = ", ".join(map(str, shape)) or "0"
        text += (f'    {{"{descr}", {len(shape)}, {{{sizes}}}, golden_npy_{i},'
                 f"\n     sizeof golden_npy_{i}}},\n")
    text += ("};\n\nstatic const struct refused_npy {\n"
             "    const char *says;\n    const unsigned char *bytes;\n"
             "    size_t size;\n} refused_npy[] = {\n")
    for i, (says, _) in enumerate(bad):
        text += (f'    {{"{says}", refused_npy_{i},\n'
                 f"     sizeof refused_npy_{i}}},\n")
    return text + "};\n"


write(sys.argv[1], "golden_safetensors", golden_safetensors())
write(sys.argv[1], "golden_npy", golden_npy())
