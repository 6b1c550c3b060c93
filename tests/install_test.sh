#!/usr/bin/env bash
# Installs the library into the build folder and builds and runs tests/install against it.
# Usage: install_test.sh SOURCE_FOLDER BUILD_FOLDER
set -euo pipefail
source_folder=$1 build=$2 work=$2/install-test

rm -rf "$work"
cmake --install "$build" --prefix "$work/prefix" >/dev/null
cmake -S "$source_folder/tests/install" -B "$work/stranger" -G Ninja -DCMAKE_PREFIX_PATH="$work/prefix" \
  -DCMAKE_CXX_COMPILER=g++ -DCMAKE_CXX_FLAGS="-Wall -Wextra -Werror" >/dev/null
cmake --build "$work/stranger"

# Nothing in what is installed may point back to the sources.
if grep -rnF -e "$source_folder/src" "$work/prefix/lib"*/cmake "$work/prefix/lib"/*/cmake 2>/dev/null; then exit 1; fi
[[ ! -e $work/prefix/include/limpid/app ]]

said=$("$work/stranger/stranger")
echo "$said"
[[ $said == "[stranger] rows end in 1 and 2" ]]
"$work/prefix/bin/limpid" --version >/dev/null
