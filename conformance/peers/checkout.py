# SPDX-License-Identifier: Apache-2.0
"""Peers that are run from a checkout, not from a package: where it is and at which commit."""
import os
import subprocess
import sys


def find(variable, url, commit, needs="torch"):
    """Put the folder that the variable names on the path; the commit it is at, or (None, what to do)."""
    folder = os.environ.get(variable)
    todo = "set %s to a checkout of %s at %s (and pip install %s)" % (variable, url, commit, needs)
    if not folder:
        return None, todo
    try:
        import torch
    except ImportError:
        return None, todo
    named = os.path.join(folder, "COMMIT")      # of a copy without its history
    if os.path.exists(named):
        with open(named) as file:
            head = file.read().strip()
    else:
        head = subprocess.run(["git", "-C", folder, "rev-parse", "HEAD"], stdout=subprocess.PIPE,
                              text=True).stdout.strip()
    if not head.startswith(commit):
        return None, "%s is at %s; %s" % (folder, head[:10] or "no commit", todo)
    sys.path.insert(0, folder)
    text = "%s, torch %s" % (commit, torch.__version__)
    if "GPU" in needs:
        if not torch.cuda.is_available():
            return None, "needs a GPU; " + todo
        import triton
        text += ", triton %s, %s" % (triton.__version__, torch.cuda.get_device_name())
    return text, ""
