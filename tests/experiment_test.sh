#!/usr/bin/env bash
# limpid experiment as a person uses it: the list, one experiment with its report, the contrary, the table; wrong names;
# and a set that is killed at random moments and started again ends with the results of one that was left alone.
# LIMPID_KILLS says how often (4), LIMPID_EXPERIMENTS which (scaling collapse order), LIMPID_SIZE how large (--tiny), and
# LIMPID_SECONDS within how many seconds of its start a run is killed (1): tests/studies/experiments.sh sets them for the
# whole set. LIMPID_WHOLE names the folder of a run that was left alone, where there is one already.
# Usage: experiment_test.sh SOURCE_FOLDER BUILD_FOLDER
whole=$(realpath "${LIMPID_WHOLE:-.}")
source "$1/tests/script.sh"
kills=${LIMPID_KILLS:-4} size=${LIMPID_SIZE:---tiny} seconds=${LIMPID_SECONDS:-1}
read -ra chosen <<<"${LIMPID_EXPERIMENTS:-scaling collapse order}"
[[ ! ${LIMPID_WHOLE:-} ]] || cp -r "$whole" whole

# What two runs have in common: no times, speeds or machine.
numbers() {
  local file
  for file in "$1"/*/result.json; do
    echo "$(basename "$(dirname "$file")")"
    sed -e '/"timed": {/,/}/d' -e '/"seconds":\|"processor_seconds":\|"machine":\|"verdict":\|"speed_ratio":/d' "$file"
  done
}

"$limpid" experiment >list || fail 'the list'
grep -q '^3 *scaling .*not run' list || fail "the list says: $(cat list)"
"$limpid" experiment sclaing >out 2>&1 && fail 'a wrong name was taken'
grep -q 'scaling' out || fail "a wrong name is answered with: $(cat out)"
"$limpid" experiment report >out 2>&1 && fail 'a wrong name was taken'
grep -q 'there is no "report"[.;]' out || fail "a wrong name is answered with: $(cat out)"
"$limpid" experiment --table nowhere >out 2>&1 && fail 'a table of nothing'
grep -q 'no results' out || fail "a table of nothing says: $(cat out)"

"$limpid" experiment "${chosen[@]}" "$size" --out whole >out 2>err || fail "the run left alone: $(cat err)"
grep -q 'Verdict: ' out || fail "no verdict: $(cat out)"
"$limpid" experiment 3 --contrary "$size" --out whole >out 2>err || fail "the contrary: $(cat err)"
grep -q 'Verdict: does not hold here\|Verdict: undecided' out || fail "the contrary holds: $(cat out)"
"$limpid" experiment --table whole >table || fail 'the table'
grep -q '^| 3 |' table || fail "the table has no row: $(cat table)"
[[ -s whole/scaling/figure-1.svg && -s whole/scaling/figure-1.ko.svg ]] || fail 'figures are missing'
for word in 'Why scores are divided' '왜 점수를' '<svg' 'limpid experiment scaling'; do
  grep -q "$word" whole/index.html || fail "the report lacks: $word"
done
"$limpid" experiment scaling "$size" --out whole --unit products >out || fail 'one unit alone'
grep -q '"unit":"products","seed":1,"measured":{' out || fail "one unit alone says: $(cat out)"
"$limpid" experiment scaling "$size" --out whole --unit product >out 2>&1 && fail 'a wrong unit was taken'
grep -q 'products' out || fail "a wrong unit is answered with: $(cat out)"
"$limpid" experiment --out whole --record record && [[ -s record/scaling/result.json ]] || fail 'no record'
grep -q '"units"' record/scaling/result.json && fail 'a record has what units measured'
"$limpid" experiment --table record --korean >table || fail 'the table of a record in Korean'
grep -q '^| 3 | `scaling` | 왜 점수를' table || fail "no table of a record in Korean: $(cat table)"
"$limpid" experiment mask --data multi30k >out 2>&1 && fail 'data for another experiment was taken'
grep -Eq '(src|href)="(https?:)?//' whole/index.html && fail 'the report asks for something from outside'

RANDOM=${LIMPID_SEED:-1}
for ((i = 0; i < kills; ++i)); do
  "$limpid" experiment "${chosen[@]}" "$size" --out killed >/dev/null 2>&1 &
  victim=$!
  milliseconds=$((RANDOM % (1000 * seconds)))
  sleep "$((milliseconds / 1000)).$(printf %03d $((milliseconds % 1000)))"
  kill -9 "$victim" 2>/dev/null
  wait "$victim" 2>/dev/null
done
"$limpid" experiment "${chosen[@]}" "$size" --out killed >/dev/null 2>err || fail "after $kills kills: $(cat err)"
diff <(numbers whole) <(numbers killed) >differences || fail "other results after $kills kills: $(head -c 2000 differences)"
echo "the same results after $kills kills"
