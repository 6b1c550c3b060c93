#!/usr/bin/env bash
# Fails one system call at a time, in every place where a short run makes it: see README.md here.
# Usage: faults.sh BUILD [COMMAND...]     commands: train quantize capture data export random
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
commands=("${@:2}")
((${#commands[@]})) || commands=(train quantize capture data export random)
calls=(openat write pwrite64 fsync renameat rename mkdir mkdirat unlink unlinkat rmdir mmap ftruncate pread64 read close flock
  lseek fstat newfstatat statx copy_file_range sendfile getdents64)
faults=(ENOSPC EIO EINTR)

# run COMMAND: fresh output; prefixed by what stands in `under`. A run that hangs ends with 124.
run() {
  local with=(timeout 60 "${under[@]}" "$limpid")
  rm -rf out
  case $1 in
    train) "${with[@]}" "${train[@]}" --out out ;;
    quantize) "${with[@]}" quantize whole out --bits 8 ;;
    capture) "${with[@]}" look whole capture 'a b c' 'a b c' --tap '*.resid_post' --out out ;;
    data) "${with[@]}" data copy --out out --count 50 ;;
    export) "${with[@]}" export whole out ;;
    random) "${with[@]}" random whole out ;;
  esac
}

# count COMMAND CALL: how often the undisturbed command makes the call.
count() {
  under=(strace -f -qq -e "trace=$2" -o trace)
  run "$1" >/dev/null 2>&1
  grep -c "$2(" trace
}

# check_result COMMAND CODE
check_result() {
  case $1 in
    train) # whatever happened: the same command goes on and ends with the same model
      under=()
      "$limpid" "${train[@]}" --out out >resumed 2>&1 || { wrong "cannot be resumed: $(tail -1 resumed)"; return; }
      cmp -s whole/model.safetensors out/model.safetensors || wrong 'resumed to another model'
      ;;
    quantize | export | random)
      # What failed leaves nothing behind that looks like a model and is none.
      if [[ -e out/config.json ]] || (($2 == 0)); then
        "$limpid" params out >/dev/null 2>&1 || wrong "exit code $2, and the folder does not open"
      fi
      (($2 != 0)) || cmp -s "$1-whole/model.safetensors" out/model.safetensors || wrong 'ended well with another model'
      ;;
    data | capture) (($2 != 0)) || diff -r "$1-whole" out >/dev/null || wrong 'ended well with other output' ;;
  esac
}

for command in "${commands[@]}"; do
  under=()
  run "$command" >/dev/null 2>said || { echo "$command: $(tail -1 said)" && exit 1; }
  rm -rf "$command-whole" && mv out "$command-whole"
  for call in "${calls[@]}"; do
    times=$(count "$command" "$call")
    for fault in "${faults[@]}"; do
      [[ $fault != EINTR || $call == @(write|read|pwrite64|pread64|openat|flock) ]] || continue
      for ((n = 1; n <= times; ++n)); do
        case_begins "$command, $call number $n fails with $fault" || continue
        under=(strace -f -qq -o /dev/null -e "trace=$call" -e "inject=$call:error=$fault:when=$n")
        run "$command" >said.out 2>said
        code=$?
        # The loader's own calls come first: it says so itself and nothing of ours has begun.
        grep -q 'error while loading shared libraries\|cannot open shared object' said && continue
        clear_end "$code" said || wrong "exit code $code, says: $(tail -1 said)"
        check_result "$command" "$code"
      done
    done
  done
done
summary
