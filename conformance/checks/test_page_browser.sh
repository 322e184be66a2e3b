#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# The page in a browser without a screen (Chromium): its script runs and says no
# error, a table sorts, nothing is wider than a phone, and it turns dark.
set -u
NARROWGAUGE=${NARROWGAUGE:-./narrowgauge}

browser=
for name in chromium chromium-browser google-chrome; do
    command -v "$name" > /dev/null && browser=$name && break
done
[ -n "$browser" ] || {
    echo 'SKIP: no Chromium on this machine'
    exit 77
}
scratch=$(mktemp -d) || exit 99
trap 'rm -rf "$scratch"' EXIT
cd "$scratch" || exit 99
failed=0

complain() {
    echo "FAIL $*"
    failed=1
}

# Any subject will do: the host's own functions need no oracle.
"$NARROWGAUGE" verify --quiet --subject cuda-host --op encode_e4m3 --op quantize_mxfp4 --op decode_e4m3 \
    --report . > /dev/null || exit 99

# A probe at the end of the page writes what it finds into the title.
cat > probe << 'HTML'
<script>
const cells = () => [...document.querySelectorAll('table.sorts tbody th')].map(c => c.textContent).join();
const before = cells();
const head = [...document.querySelectorAll('table.sorts thead th')].find(c => c.textContent.startsWith('elements'));
head.querySelector('button').click();
const falling = cells();
head.querySelector('button').click();
document.title = ['probe', before, falling, cells(), head.getAttribute('aria-sort'),
    document.documentElement.scrollWidth <= window.innerWidth, window.innerWidth,
    getComputedStyle(document.body).backgroundColor,
    [...document.querySelectorAll('svg')].every(s => s.getBoundingClientRect().height > 100)].join(' ');
</script></body>
HTML
sed -e '/<\/body>/{r probe
d}' verify.html > probed.html

# look WIDTH OPTION...: the probed title in ./title, what the console said in ./log.
look() {
    local width=$1
    shift
    timeout 60 "$browser" --headless --no-sandbox --disable-gpu --user-data-dir="$scratch/profile" \
        --window-size="$width,900" --enable-logging=stderr "$@" --dump-dom "file://$PWD/probed.html" \
        > dom 2> log
    sed -n 's/.*<title>\(probe.*\)<\/title>.*/\1/p' dom > title
    [ -s title ] || {
        echo "SKIP: $browser does not run here: $(tail -n 1 log)"
        exit 77
    }
    grep -E 'CONSOLE.*(Uncaught|Refused|Error|violat)' log && complain "$width: an error on the console"
    grep -q 'data-ready="yes"' dom || complain "$width: the script did not end"
}

names='encode_e4m3,quantize_mxfp4,decode_e4m3'
rising='decode_e4m3,encode_e4m3,quantize_mxfp4'
falling='quantize_mxfp4,encode_e4m3,decode_e4m3'
look 1280
grep -qE "^probe $names $falling $rising ascending true 1280 rgb\(247, 247, 245\) true$" title ||
    complain "1280 wide: $(cat title)"
look 500 --blink-settings=preferredColorScheme=0
grep -qE "^probe $names $falling $rising ascending true [0-9]+ rgb\(18, 21, 24\) true$" title ||
    complain "a phone in the dark: $(cat title)"
exit $failed
