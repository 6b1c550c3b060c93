#!/usr/bin/env bash
# limpid experiment as a person uses it: the list, one experiment with its report, the contrary, the table; wrong names;
# and a set that is killed at random moments and started again ends with the results of one that was left alone.
# LIMPID_KILLS says how often (4; the full study: 20, with LIMPID_EXPERIMENTS="all").
# Usage: experiment_test.sh SOURCE_FOLDER BUILD_FOLDER
set -uo pipefail
limpid=$2/limpid
kills=${LIMPID_KILLS:-4}
read -ra chosen <<<"${LIMPID_EXPERIMENTS:-scaling collapse order}"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1

fail() {
  printf 'FAILED: %s\n' "$*"
  exit 1
}

# What two runs have in common: no times, speeds or machine.
numbers() {
  local file
  for file in "$1"/*/result.json; do
    echo "$(basename "$(dirname "$file")")"
    sed -e '/"timed": {/,/}/d' -e '/"seconds":\|"machine":\|"verdict":\|"speed_ratio":/d' "$file"
  done
}

"$limpid" experiment >list || fail 'the list'
grep -q '^3 *scaling .*not run' list || fail "the list says: $(cat list)"
"$limpid" experiment sclaing >out 2>&1 && fail 'a wrong name was taken'
grep -q 'scaling' out || fail "a wrong name is answered with: $(cat out)"
"$limpid" experiment --table nowhere >out 2>&1 && fail 'a table of nothing'
grep -q 'no results' out || fail "a table of nothing says: $(cat out)"

"$limpid" experiment "${chosen[@]}" --tiny --out whole >out 2>err || fail "the run left alone: $(cat err)"
grep -q 'Verdict: ' out || fail "no verdict: $(cat out)"
"$limpid" experiment 3 --contrary --tiny --out whole >out 2>err || fail "the contrary: $(cat err)"
grep -q 'Verdict: does not hold here\|Verdict: undecided' out || fail "the contrary holds: $(cat out)"
"$limpid" experiment --table whole | grep -q '^| 3 |' || fail 'the table has no row'
[[ -s whole/scaling/figure-1.svg && -s whole/scaling/figure-1.ko.svg ]] || fail 'figures are missing'
for word in 'Why scores are divided' '왜 점수를' '<svg' 'limpid experiment scaling'; do
  grep -q "$word" whole/index.html || fail "the report lacks: $word"
done
grep -Eq '(src|href)="(https?:)?//' whole/index.html && fail 'the report asks for something from outside'

RANDOM=${LIMPID_SEED:-1}
for ((i = 0; i < kills; ++i)); do
  "$limpid" experiment "${chosen[@]}" --tiny --out killed >/dev/null 2>&1 &
  victim=$!
  sleep "0.$((RANDOM % 9 + 1))"
  kill -9 "$victim" 2>/dev/null
  wait "$victim" 2>/dev/null
done
"$limpid" experiment "${chosen[@]}" --tiny --out killed >/dev/null 2>err || fail "after $kills kills: $(cat err)"
diff <(numbers whole) <(numbers killed) >differences || fail "other results after $kills kills: $(head -c 2000 differences)"
echo "the same results after $kills kills"
