#!/usr/bin/env bash
# Trains, evaluates, completes, translates and looks in a loop; nothing may grow: see README.md here.
# Usage: soak.sh BUILD [MINUTES]     with LIMPID_STATE, parts add up
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
minutes=${2:-60}
export TMPDIR=$work/tmp
mkdir -p "$TMPDIR"
cat >lm.toml <<'T'
[data]
train = ["train.src"]
[tokenizer]
kind = "words"
[model]
model_type = "gpt2"
n_embd = 16
n_layer = 1
n_head = 2
n_positions = 64
[stop]
steps = 6
T
"$limpid" train lm.toml data.folder=copy --out writer 2>said || { tail -1 said && exit 1; }
cat >measured.py <<'P'
import resource, subprocess, sys
code = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL).returncode
with open("peak", "w") as file: file.write(str(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss))
sys.exit(code)
P
declare -A at_first=()

# flat NAME NUMBER SLACK: whether a number that is measured in every loop is what it was after the first ones, or less.
flat() {
  ((loops != 20)) || at_first[$1]=$2
  ((loops <= 20 || $2 <= at_first[$1] + $3)) || wrong "$1 grew from ${at_first[$1]} to $2"
}

# measured NAME COMMAND...: the most memory that it takes, in kB.
measured() {
  printf 'a b c\n' | python3 measured.py "${@:2}" 2>said || { wrong "$1: $(tail -1 said)"; return; }
  flat "$1" "$(<peak)" $(($(<peak) / 5 + 2000))
}

"$limpid" "${train[@]}" --out long stop.steps=100000000 stop.minutes="$minutes" 2>log &
pid=$!
trap 'kill "$pid" 2>/dev/null; rm -rf "$work"' EXIT
begun=$(date +%s%N) end=$((SECONDS + 60 * minutes)) loops=0
while ((SECONDS < end)); do
  loops=$((loops + 1))
  case_begins "part of $begun, loop $loops" || continue
  measured evaluate "$limpid" evaluate whole
  measured translate "$limpid" translate whole
  measured complete "$limpid" complete writer 'a b c' -n 20
  measured look "$limpid" look whole lens 'a b c'
  [[ -z $(ls -A "$TMPDIR") ]] || wrong "temporary files are left: $(ls "$TMPDIR" | head -3)"
  [[ -d /proc/$pid ]] || { ((SECONDS + 60 > end)) || wrong "training ended: $(tail -1 log)"; break; }
  memory=$(awk '/VmRSS/ { print $2 }' "/proc/$pid/status")
  flat 'memory of the training process' "$memory" $((memory / 10))
  flat 'files of the training process' "$(ls "/proc/$pid/fd" | wc -l)" 2
  flat 'files of the run' "$(find long -type f | wc -l)" 12
done
kill -TERM "$pid" 2>/dev/null
wait "$pid"
summary
