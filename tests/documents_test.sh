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
    -e '/^\.\/limpid train --/s/--minutes [0-9.]*/--minutes 0.05/; s/^\.\/limpid train --.*/& stop.steps=20/' \
    -e 's/stop.steps=2000/stop.steps=3 schedule.warmup=1 model.d_model=32 tokenizer.vocab=900/' \
    -e 's/ --quick/ --tiny/' \
    -e 's/stop.steps=500/stop.steps=60/; s/--steps [0-9]*/--steps 20/; s/--models 12/--models 2/' \
    -e 's/^\.\/limpid induction.*/& --steps 20/; s/^\.\/limpid superposition --svg [^ ]*/& --steps 20/' <<<"$1"
}

# Text of one's own, which docs/training.md speaks of.
./limpid data english-korean --out own --count 3000 >/dev/null 2>&1 || exit 1
head -600 own/train.en | tee train.en new.en a.en >book.txt
head -600 own/train.ko | tee train.fr new.fr >a.ko
paste train.en train.fr >corpus.tsv
awk 'NR % 2 { print "good\t" $0; next } { print "bad\t" $0 }' train.en >reviews.tsv

# The files outside the repository that a command names and that are not there.
missing() {
  local path
  for path in $(grep -oE '\.\./shared/[^ ;"'"'"']+' <<<"$1"); do
    [[ -e $path ]] || printf '%s ' "$path"
  done
}

failures=0
for document in README.md docs/training.md docs/running.md docs/looking-inside.md docs/page.md docs/experiments.md \
  docs/quantization.md docs/clusters.md docs/models.md CONTRIBUTING.md; do
  mapfile -t commands < <(sed -n '/^```sh$/,/^```$/p' "$1/$document" | sed -n 's/  *#.*$//; /\.\/limpid /p')
  ((${#commands[@]} >= 1)) || { echo "no command found in $document"; exit 1; }
  # README's run and that of the guide have the same name for other texts.
  [[ $document != docs/training.md ]] || rm -rf my-translator
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
