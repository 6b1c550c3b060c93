#!/usr/bin/env bash
# The page of `limpid serve`: its functions, then every room in a browser on models made for the test, its numbers held against
# `limpid look --json`. Skipped where npm or Chromium is missing.
# Usage: page_test.sh SOURCE_FOLDER BUILD_FOLDER
set -euo pipefail
source_folder=$1 build=$2
for command in npm chromium; do
  command -v $command >/dev/null || { echo "Skipped: the page's tests need $command (sudo apt-get install $command)"; exit 77; }
done
source "$source_folder/scripts/setup.sh"
build_page || { echo "Skipped: npm could not fetch what the page is made of"; exit 77; }
cd "$source_folder/page"

# What a browser loads, as the server sends it: all rooms included, and at first.
size=$(cat dist/index.html.gz dist/assets/*.gz | wc -c)
echo "the page is $size bytes compressed"
((size <= 400 * 1024))
! grep -rEo 'https?://[a-z0-9.-]+' dist --include=*.js --include=*.css --include=*.html -h | grep -vE 'www\.w3\.org|svelte\.dev' | grep . || exit 1

npm test
node browser/run.mjs "$build/limpid"
