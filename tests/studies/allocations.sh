#!/usr/bin/env bash
# Lets one allocation fail per distinct call stack: see README.md here.
# Usage: allocations.sh BUILD [COMMAND...]     commands: params translate capture data export random quantize train
# A command's stacks are found by a run in which nothing fails; then each fails once, in a run of its own.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
commands=("${@:2}")
((${#commands[@]})) || commands=(params translate capture data export random quantize train)
gcc -O1 -fno-omit-frame-pointer -shared -fPIC -o fail.so "$source_folder/tests/studies/fail_allocation.c" -ldl || exit 1
printf 'a b c\n' >in

# run COMMAND NAME=VALUE: fresh output, under the interposer.
run() {
  local with=(timeout 60 setarch "$(uname -m)" -R env "$2" "LD_PRELOAD=$PWD/fail.so" "$limpid")
  rm -rf out
  case $1 in
    params) "${with[@]}" params whole ;;
    translate) "${with[@]}" translate whole <in ;;
    capture) "${with[@]}" look whole capture 'a b c' 'a b c' --tap '*.resid_post' --out out ;;
    data) "${with[@]}" data copy --out out --count 50 ;;
    export) "${with[@]}" export whole out ;;
    random) "${with[@]}" random whole out ;;
    quantize) "${with[@]}" quantize whole out --bits 8 ;;
    train) "${with[@]}" "${train[@]}" --out out --threads 1 ;;
  esac
}

# opens COMMAND CODE: a command that ended well has left all of its output, one that failed nothing that looks like it.
opens() {
  case $1 in
    export | random | quantize)
      [[ ! -e out/config.json ]] || "$limpid" params out >/dev/null 2>&1 || wrong "exit code $2, and the folder does not open" ;;
    train) "$limpid" "${train[@]}" --out out >resumed 2>&1 || { wrong "cannot be resumed: $(tail -1 resumed)"; return; }
      cmp -s whole/model.safetensors out/model.safetensors || wrong 'resumed to another model' ;;
    data | capture) (($2 != 0)) || diff -r "$1-whole" out >/dev/null || wrong 'ended well with other output' ;;
    translate) (($2 != 0)) || cmp -s said.out "$1-whole" || wrong 'ended well with other output' ;;
  esac
}

for command in "${commands[@]}"; do
  run "$command" LIMPID_STACKS="$PWD/stacks" >said.out 2>said || { echo "$command: $(tail -1 said)" && exit 1; }
  [[ $command != @(data|capture) ]] || { rm -rf "$command-whole" && mv out "$command-whole"; }
  [[ $command != translate ]] || cp said.out "$command-whole"
  while read -r number hash; do
    case_begins "$command $hash" || continue
    run "$command" "LIMPID_FAIL=$number:$hash" >said.out 2>said
    code=$?
    clear_end "$code" said || wrong "exit code $code, says: $(tail -1 said)"
    opens "$command" "$code"
  done <stacks
done
summary
