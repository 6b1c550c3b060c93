#!/usr/bin/env bash
# Lets one allocation fail per distinct call stack: see README.md here.
# Usage: allocations.sh BUILD [MOST]     MOST: numbers tried per command (2000)
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
most=${2:-2000}
gcc -O1 -shared -fPIC -o fail.so "$source_folder/tests/studies/fail_allocation.c" -ldl || exit 1
"$limpid" train "$source_folder/recipes/copy.toml" --dump-config >/dev/null || exit 1
printf 'a b c\n' >in

try() {
  local n step=1 code
  : >failed
  for ((n = 1; n <= most * 50; n += step)); do
    rm -rf out
    cases=$((cases + 1))
    LIMPID_FAIL=$n LIMPID_FAILED=$PWD/failed LD_PRELOAD=$PWD/fail.so timeout 120 "$limpid" "$@" >said.out 2>said <in
    code=$?
    # The loader and the start of the C library are not ours; a message about memory is what is wanted.
    clear_end "$code" said || grep -q 'error while loading' said || wrong "$* with allocation $n failing: exit code $code, says: $(tail -1 said)"
    ((cases % most == 0)) && break
    ((n < 500)) || step=$((1 + n / 100)) # later ones are more and more alike
  done
}

try params whole
try translate whole
try quantize whole out --bits 8
try "${train[@]}" --out out
summary
