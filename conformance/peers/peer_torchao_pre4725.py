# SPDX-License-Identifier: Apache-2.0
"""torchao's to_mx as it was before its pull request 4725: peer_torchao.py from the commit before."""
import checkout
from peer_torchao import CHECKS as LATER, answer        # noqa: F401

COMMIT = "e74892b"
BLOCKS = "blocks that hold a NaN or an infinity, which the profile does not describe"
CHECKS = [dict(check, profile=check["profile"] + "-pre4725",
               why=None if "rceil" in check["profile"] else BLOCKS) for check in LATER if check["operation"] != "dequantize_mxfp8"]


def version():
    return checkout.find("NG_TORCHAO_PRE4725", "https://github.com/pytorch/ao", COMMIT)
