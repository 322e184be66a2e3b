#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# list_sources.sh [SUFFIX...]: our C and CUDA sources, from the top folder, a line
# each, generated tables left out.
set -euo pipefail
(($#)) || set -- c h cc cu cuh
names=$(printf '|%s' "$@")
folders=(formats reference cuda conformance fuzz reports)
if [ -e .git ]; then
    # New files too, those that git ignores not.
    git -c safe.directory="$PWD" ls-files --cached --others --exclude-standard -- "${folders[@]}"
else
    find "${folders[@]}" -type f 2>/dev/null
fi | sort -u | grep -E "\\.(${names#|})\$" | grep -v '_table\.c$' |
    while read -r file; do
        if [ -f "$file" ]; then echo "$file"; fi
    done
