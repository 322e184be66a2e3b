#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# docs/profiles.md has every profile in its version; what it calls unconfirmed the
# profile calls so too, and the other way round; and each that was run against a
# peer has that peer's rows in reports/peers.json, at that version, with as many
# differences as the page says.
set -u
srcdir=${NG_SRCDIR:?}
page=$srcdir/docs/profiles.md
peers=$srcdir/reports/peers.json
failed=0

complain() {
    echo "FAIL $*"
    failed=1
}

# row NAME: the line of the first table. `a-x`, `-y` stands for a-x and a-y too.
row() {
    local name=$1 base
    sed -n '/^| profile | of |/,/^$/p' "$page" | sed 1,2d > "$scratch/table"
    grep -F "\`$name\`" "$scratch/table" && return
    [[ $name == torchao-*-pre4725 ]] && grep -F "| \`torchao-...-pre4725\` |" "$scratch/table" && return
    base=${name%-*}
    grep -E "^\| \`${base}[^|]* \`-${name##*-}\`" "$scratch/table"
}

scratch=$(mktemp -d) || exit 99
trap 'rm -rf "$scratch"' EXIT
for file in "$srcdir"/formats/profiles/*.profile; do
    name=$(basename "$file" .profile)
    version=$(sed -n 's/^version  *//p' "$file")
    line=$(row "$name")
    [ "$(grep -c . <<< "$line")" -eq 1 ] || complain "$name: not one row in docs/profiles.md"
    grep -qE "\| [^|]*\b${version//./\\.}\b[^|]* \| [^|]* \| [^|]*\|\$" <<< "$line" ||
        complain "$name: its version is $version, not: $line"
    [ "$(grep -c unconfirmed "$file")" -gt 0 ] && in_file=yes || in_file=no
    grep -q unconfirmed <<< "$line" && on_page=yes || on_page=no
    [ "$in_file" = "$on_page" ] || complain "$name: unconfirmed: $in_file in the profile, $on_page on the page"

    # Of a peer that was run: rows at this version (FlashOptim's are of a commit).
    rows=$(grep -F "\"profile\": \"$name\"" "$peers")
    commit=$version
    [ "$name" = flashoptim ] && commit=$(grep -oE '8b2d966' <<< "$line")
    if [ -n "$rows" ]; then
        grep -qvE "\"version\": \"([a-z_]+ )?${commit}[\", ]" <<< "$rows" &&
            complain "$name: reports/peers.json has another version than $version"
        grep -qE '\| 0( in finite blocks)? \|$' <<< "$line" &&
            grep -q '"differences": [1-9]' <<< "$rows" && complain "$name: has differences, the page says none"
    elif grep -qE '\| (its [^|]*)?run[ ,][^|]*\|[^|]*\|$' <<< "$line"; then
        complain "$name: was run, and has no row in reports/peers.json"
    fi
done
while read -r name; do
    [ -e "$srcdir/formats/profiles/$name.profile" ] || complain "reports/peers.json: $name is no profile"
done < <(grep -oE '"profile": "[^"]*"' "$peers" | sed 's/.*: "//;s/"//' | sort -u)
exit $failed
