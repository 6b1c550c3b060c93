#!/usr/bin/env bash
# Runs every ./limpid command of the README and of the guides, as printed, and expects each to succeed. (./test is what runs
# this.) Only what trains for minutes or serves is cut short; commands on files of ../shared that are not there are left out.
# Usage: documents_test.sh SOURCE_FOLDER BUILD_FOLDER
set -uo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/repository"
cp -r "$1/tests" "$1/recipes" "$1/bench" "$work/repository" # commands name files of the repository; what they write stays here
ln -s "$2/limpid" "$work/repository/limpid"
[[ -d $1/../shared ]] && ln -s "$(cd "$1/../shared" && pwd)" "$work/shared"
cd "$work/repository" || exit 1

# What cuts a command short.
shorter() {
  sed -e 's/^\.\/limpid demo.*/& --minutes 0.1/' \
    -e 's/^\.\/limpid serve.*/timeout --preserve-status -s TERM 5 & --port 0/' \
    -e 's/^\.\/limpid train facts .*/& stop.steps=400/' \
    -e 's/^\.\/limpid look .* facts$/& --traces 2 --ablations 2 --edits 2/' \
    -e 's/ --quick/ --tiny/' \
    -e 's/stop.steps=500/stop.steps=60/; s/--steps [0-9]*/--steps 20/; s/--models 12/--models 2/' \
    -e 's/^\.\/limpid induction.*/& --steps 20/; s/^\.\/limpid superposition --svg [^ ]*/& --steps 20/' <<<"$1"
}

# The files outside the repository that a command names and that are not there.
missing() {
  local path
  for path in $(grep -oE '\.\./shared/[^ ;"'"'"']+' <<<"$1"); do
    [[ -e $path ]] || printf '%s ' "$path"
  done
}

failures=0
for document in README.md docs/running.md docs/looking-inside.md docs/page.md docs/experiments.md docs/quantization.md \
  docs/clusters.md docs/models.md CONTRIBUTING.md; do
  mapfile -t commands < <(sed -n '/^```sh$/,/^```$/p' "$1/$document" | sed -n 's/  *#.*$//; /\.\/limpid /p')
  ((${#commands[@]} >= 1)) || { echo "no command found in $document"; exit 1; }
  for command in "${commands[@]}"; do
    absent=$(missing "$command")
    if [[ -n $absent ]]; then
      echo "left out, needs $absent(not part of the repository): $command"
    elif bash -o pipefail -c "$(shorter "$command")" >output 2>&1 </dev/null; then
      echo "ok: $command"
    else
      echo "FAILED: $command" && cat output
      failures=$((failures + 1))
    fi
  done
done
exit $((failures > 0))
