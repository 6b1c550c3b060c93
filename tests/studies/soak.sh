#!/usr/bin/env bash
# Trains, evaluates, completes and looks in a loop; nothing may grow: see README.md here.
# Usage: soak.sh BUILD [MINUTES]
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
minutes=${2:-60}
export TMPDIR=$work/tmp
mkdir -p "$TMPDIR"
end=$(($(date +%s) + 60 * minutes)) first=
"$limpid" "${train[@]}" --out long stop.steps=100000000 stop.minutes="$minutes" 2>log &
pid=$!
while (($(date +%s) < end)); do
  cases=$((cases + 1))
  "$limpid" evaluate whole >/dev/null 2>said || wrong "evaluate: $(tail -1 said)"
  echo 'a b c' | "$limpid" translate whole >/dev/null 2>said || wrong "translate: $(tail -1 said)"
  "$limpid" look whole lens 'a b c' >/dev/null 2>said || wrong "look: $(tail -1 said)"
  [[ -z $(ls -A "$TMPDIR") ]] || wrong "temporary files are left: $(ls "$TMPDIR" | head -3)"
  [[ -d /proc/$pid ]] || break
  memory=$(awk '/VmRSS/ {print $2}' "/proc/$pid/status") files=$(ls "/proc/$pid/fd" | wc -l)
  if ((cases == 20)); then first=$memory first_files=$files; fi
  [[ -z $first ]] || ((memory < first + first / 10 && files <= first_files + 2)) ||
    wrong "the training process grew from $first kB and $first_files files to $memory kB and $files files"
done
kill -TERM "$pid" 2>/dev/null
wait "$pid"
summary
