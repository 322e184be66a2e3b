# SPDX-License-Identifier: Apache-2.0
"""Hold profiles against the implementations that they describe (docs/profiles.md).

    python3 conformance/peers/run.py --narrowgauge build/narrowgauge ml_dtypes gfloat

Each peer is a module peer_NAME.py beside this file: the packages it needs, a list of checks (profile, operation,
variants) and answer(), which runs the real thing over one case of `narrowgauge vectors`. `narrowgauge compare` judges.
Nothing is installed: what is missing is named, and the exit status is 77.

The work may be cut in three, for a machine that has the peer and not this program: --only vectors, then --only answers
there, then --only compare, all with one --keep DIR.

A check whose peer is not what the profile says states how many units differ ("differences") and why ("why"), as they
were counted of the version that it names ("of"): another count is a failure, of another version too, for it must be
looked at.

Exit status: 0 no difference, or exactly those that a check states; 1 others; 2 usage; 77 a peer is missing."""
import argparse
import glob
import importlib
import importlib.metadata
import json
import os
import subprocess
import sys
import tempfile

import numpy as np

import tensors

HERE = os.path.dirname(os.path.abspath(__file__))


def wants(argv):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("peers", nargs="+", help="names: " + ", ".join(sorted(
        os.path.basename(p)[5:-3] for p in glob.glob(os.path.join(HERE, "peer_*.py")))))
    parser.add_argument("--narrowgauge", default="./narrowgauge", help="the program (default ./narrowgauge)")
    parser.add_argument("--report", help="reports/peers.json: rows of these peers are replaced, others stay")
    parser.add_argument("--keep", help="a folder for the vectors and answers (default: a temporary one)")
    parser.add_argument("--only", choices=["vectors", "answers", "compare"], help="one step of the three")
    parser.add_argument("--quick", action="store_true", help="level 0, and not the checks marked slow")
    return parser.parse_args(argv)


def versions(peer):
    """The versions found, or None with a line saying what to install."""
    if hasattr(peer, "version"):
        text, todo = peer.version()
        if text is None:
            print("SKIP:", todo)
        return text
    text = []
    for package in peer.PACKAGES:
        try:
            text.append(package + " " + importlib.metadata.version(package))
        except importlib.metadata.PackageNotFoundError:
            print("SKIP: no package %s here: pip install %s" % (package, " ".join(peer.PACKAGES)))
            return None
    return ", ".join(text)


def judge(check, differences):
    """What is said of a row, and whether it is wrong. A check with a reason has a count, and no check a count alone."""
    expected, why = check.get("differences", 0), check.get("why")
    if (why is None) != (expected == 0):
        sys.exit("%s, %s: a check states both how many differences and why, or neither" % (
            check["profile"], check["operation"]))
    if differences == expected:
        return ": " + why if why else "", False
    if why:
        return "  <-- %d expected (%s): %s" % (expected, check.get("of", "no version named"), why), True
    return "  <-- none expected", True


def folder_of(keep, name, number):
    return os.path.join(keep, "%s.%02d" % (name, number))


def make_vectors(options, check, folder):
    command = [options.narrowgauge, "vectors", "--op", check["operation"], "--profile", check["profile"], "--out", folder,
               "--level", "0" if options.quick else str(check.get("level", 0))]
    for pin in check.get("set", []):
        command += ["--set", pin]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)


def rules_of(about):
    rules = {name[5:]: value for name, value in about.items() if name.startswith("rule.")}
    for pair in about["variant"].split(","):
        name, _, value = pair.partition("=")
        rules["dtype " + name] = value
    return rules


def fill_left_out(outputs, expected, case):
    """Elements for which the peer has no answer get the expected one; returns how many."""
    left_out = outputs.pop("left out", {})
    if not isinstance(left_out, dict):
        left_out = {"y": left_out}
    for name, mask in left_out.items():
        if mask is None:        # an output that the peer does not have
            outputs[name] = expected[case + "/" + name]
            continue
        outputs[name] = np.where(mask, expected[case + "/" + name], outputs[name]).astype(outputs[name].dtype)
    return sum(int(mask.sum()) for mask in left_out.values() if mask is not None)


def make_answers(peer, check, folder, version):
    left_out = 0
    for path in sorted(glob.glob(os.path.join(folder, "*.inputs.safetensors"))):
        about, inputs = tensors.read(path)
        _, expected = tensors.read(path.replace(".inputs.", ".expected."))
        back = {}
        for case, own, attributes in tensors.cases(about, inputs):
            outputs = peer.answer(check["operation"], rules_of(about), own, attributes)
            if outputs is None:
                continue
            left_out += fill_left_out(outputs, expected, case)
            back.update({case + "/" + name: t for name, t in outputs.items()})
        if back:
            tensors.write(path.replace(".inputs.", ".actual."), back)
    with open(os.path.join(folder, "answers.json"), "w") as file:
        json.dump({"version": version, "left_out": left_out}, file)


def compare(options, name, check, folder):
    with open(os.path.join(folder, "answers.json")) as file:
        about = json.load(file)
    row = {"peer": name, "version": about["version"], "profile": check["profile"], "operation": check["operation"],
           "variants": " ".join(check.get("set", [])), "cases": 0, "elements": 0, "differences": 0,
           "left_out": about["left_out"]}
    said = ""
    for path in sorted(glob.glob(os.path.join(folder, "*.actual.safetensors"))):
        done = subprocess.run([options.narrowgauge, "compare", "--json", "--profile", check["profile"], "--expected",
                               path.replace(".actual.", ".expected."), "--actual", path], stdout=subprocess.PIPE)
        if done.returncode > 1:
            sys.exit("compare: %s: exit %d" % (path, done.returncode))
        result = json.loads(done.stdout)
        operation = result["operations"][0]
        row["cases"] += result["cases"]
        row["elements"] += result["elements"]
        row["differences"] += result["differences"]
        if result["differences"] and not said:
            said = "\n".join(line for line in (operation["diagnosis"], operation["failures"][0]) if line)
    if row["cases"] == 0:
        sys.exit("%s: %s: not one case came back" % (name, check["operation"]))
    if said:
        row["first"] = said.splitlines()[-1]
    verdict, wrong = judge(check, row["differences"])
    if check.get("why"):
        row["why"] = check["why"]
    print("%-15s %-20s %-20s %-34s %7d cases %10d differences%s" % (
        name, row["profile"], row["operation"], row["variants"], row["cases"], row["differences"], verdict), flush=True)
    if wrong and said:
        print(said)
    return row, wrong


def write_report(path, rows):
    """One row a line, so that a change is a diff."""
    old = []
    if os.path.exists(path):
        with open(path) as file:
            old = json.load(file)
    fresh = {row["peer"] for row in rows}
    rows = [row for row in old if row["peer"] not in fresh] + rows
    rows.sort(key=lambda row: (row["peer"], row["profile"], row["operation"], row["variants"]))
    with open(path, "w") as file:
        file.write("[\n" + ",\n".join(json.dumps(row) for row in rows) + "\n]\n")


def each_alone(argv, options):
    """One process a peer: two commits of one package do not go together."""
    status = [subprocess.run([sys.executable, os.path.abspath(__file__)] + [a for a in argv if a not in options.peers]
                             + [name]).returncode for name in options.peers]
    return next((s for s in status if s not in (0, 77)), 77 if 77 in status else 0)


def main(argv):
    options = wants(argv)
    if len(options.peers) > 1:
        return each_alone(argv, options)
    with tempfile.TemporaryDirectory() as scratch:
        keep = options.keep or scratch
        os.makedirs(keep, exist_ok=True)
        rows, failed, missing = [], False, False
        for name in options.peers:
            peer = importlib.import_module("peer_" + name)
            version = "" if options.only in ("vectors", "compare") else versions(peer)
            if version is None:
                missing = True
                continue
            for number, check in enumerate(peer.CHECKS):
                if options.quick and check.get("slow"):
                    continue
                folder = folder_of(keep, name, number)
                if options.only in (None, "vectors"):
                    make_vectors(options, check, folder)
                if options.only in (None, "answers"):
                    make_answers(peer, check, folder, version)
                if options.only in (None, "compare"):
                    row, wrong = compare(options, name, check, folder)
                    rows.append(row)
                    failed |= wrong
        if options.report and rows:
            write_report(options.report, rows)
    return 1 if failed else 77 if missing else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
