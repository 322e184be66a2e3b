#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# check_dist.sh TARBALL: fail if the tarball lacks a file that git has, since a
# local.mk then does not list it. Left out on purpose: dotfiles, images.
set -euo pipefail
tarball=$(realpath "$1")
cd "$(dirname "$0")/.."
missing=$(comm -23 \
    <(git -c safe.directory="$PWD" ls-files | grep -v -E '(^|/)\.|^reports/' | sort) \
    <(tar -tf "$tarball" | sed 's,^[^/]*/,,' | sort))
if [ -n "$missing" ]; then
    printf 'not in the tarball:\n%s\n' "$missing" >&2
    exit 1
fi
