#!/usr/bin/env bash
# The Korean documents show the same command lines as the English ones; only the remarks behind them are translated.
# Usage: korean_documents_test.sh SOURCE_FOLDER BUILD_FOLDER
set -uo pipefail
cd "$1" || exit 1
failures=0 compared=0

# Lines of code blocks of shells (```sh and ```), without remarks.
commands() { sed -n '/^```\(sh\)\?$/,/^```$/p' "$1" | sed 's/  *#.*$//; /^```/d; /^$/d' | grep -E '(^|[ |;])(\./)?(limpid|test)( |$)' | grep -v '^\$'; }

compare() {
  local english=$1 korean=$2
  compared=$((compared + 1))
  if ! diff <(commands "$english") <(commands "$korean"); then
    echo "FAILED: $korean shows other commands than $english"
    failures=$((failures + 1))
  fi
}

compare README.md README.ko.md
compare docs/page.md docs/page.ko.md
compare docs/experiments.md docs/experiments.ko.md
for korean in docs/ko/*.md; do compare "docs/$(basename "$korean")" "$korean"; done
((compared > 1)) || { echo 'FAILED: there are no Korean documents'; exit 1; }
((failures == 0)) && echo "$compared documents have the same commands"
exit $((failures > 0))
