#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The table of reports/gpu/convert.md, made anew from the rows of the bench.

    python3 cuda/bench/table.py reports/gpu/bench.json reports/gpu/convert.md

Replaces what stands between the page's two marks, <!-- rows --> and
<!-- end of rows -->; the rest is prose and stays.
"""
import json
import sys


def lines(rows):
    """The machine, then a line a row."""
    first = rows[0]
    yield (f"{first['gpu']}, driver {first['driver']}, CUDA {first['cuda']}, "
           f"multiprocessors at {first['sm_mhz']} of {first['sm_max_mhz']} MHz "
           f"and memory at {first['memory_mhz']} in the run; "
           f"narrowgauge {first['commit']}.")
    yield ""
    yield ("| operation | form | shape | median us | min | max | GB/s | copy | "
           "share | peers, us |")
    yield "|---|---|---|---|---|---|---|---|---|---|"
    for row in rows:
        peers = ", ".join(f"{name} {us:.0f}"
                          for name, us in sorted(row["peer"].items()))
        yield (f"| {row['op']} | {row['form']} | {row['shape']} | "
               f"{row['median_us']:.2f} | {row['min_us']:.2f} | "
               f"{row['max_us']:.2f} | {row['rate']:.0f} | {row['limit']:.0f} | "
               f"{100 * row['share']:.1f} % | {peers} |")


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        rows = json.load(file)
    with open(sys.argv[2], encoding="utf-8") as file:
        before, rest = file.read().split("<!-- rows -->\n")
    after = rest.split("<!-- end of rows -->\n")[1]
    with open(sys.argv[2], "w", encoding="utf-8") as file:
        file.write(before + "<!-- rows -->\n" + "\n".join(lines(rows))
                   + "\n<!-- end of rows -->\n" + after)


if __name__ == "__main__":
    main()
