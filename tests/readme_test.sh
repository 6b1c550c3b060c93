#!/usr/bin/env bash
# Runs every ./limpid command of README.md, as printed, and expects each to succeed. (./test is what runs this.) Only the
# bare demo, three minutes of training, is cut short.
# Usage: readme_test.sh SOURCE_FOLDER BUILD_FOLDER
set -uo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp -r "$1/tests" "$1/recipes" "$work" # commands name files of the repository; what they write stays here
ln -s "$2/limpid" "$work/limpid"
cd "$work" || exit 1

mapfile -t commands < <(sed -n '/^```sh$/,/^```$/p' "$1/README.md" | sed -n 's/ *#.*$//; /\.\/limpid /p' | sed 's/^\.\/limpid demo$/& --minutes 0.1/')
((${#commands[@]} >= 4)) || { echo "only ${#commands[@]} commands found in README.md"; exit 1; }
failures=0
for command in "${commands[@]}"; do
  if bash -c "$command" >output 2>&1 </dev/null; then
    echo "ok: $command"
  else
    echo "FAILED: $command" && cat output
    failures=$((failures + 1))
  fi
done
exit $((failures > 0))
