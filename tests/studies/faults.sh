#!/usr/bin/env bash
# Fails one system call at a time, in every place where a short run makes it: see README.md here.
# Usage: faults.sh BUILD [COMMAND...]     commands: train quantize capture data export random
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
commands=("${@:2}")
((${#commands[@]})) || commands=(train quantize capture data export random)
calls=(openat write pwrite64 fsync renameat rename mkdir mmap ftruncate pread64 read close)
faults=(ENOSPC EIO EINTR)

# run COMMAND: fresh output; prefixed by what stands in `under`.
run() {
  case $1 in
    train) rm -rf out && "${under[@]}" "$limpid" "${train[@]}" --out out ;;
    quantize) rm -rf out && "${under[@]}" "$limpid" quantize whole out --bits 8 ;;
    capture) rm -rf out && "${under[@]}" "$limpid" look whole capture 'a b c' 'a b c' --tap '*.resid_post' --out out ;;
    data) rm -rf out && "${under[@]}" "$limpid" data copy --out out --count 50 ;;
    export) rm -rf out && "${under[@]}" "$limpid" export whole out ;;
    random) rm -rf out && "${under[@]}" "$limpid" random whole out ;;
  esac
}

# count COMMAND CALL: how often the undisturbed command makes the call.
count() {
  under=(strace -f -qq -e "trace=$2" -o trace)
  run "$1" >/dev/null 2>&1
  grep -c "$2(" trace
}

check_result() {
  case $1 in
    train) # whatever happened: the same command goes on and ends with the same model
      under=()
      "$limpid" "${train[@]}" --out out >resumed 2>&1 || { wrong "$2: cannot be resumed: $(tail -1 resumed)"; return; }
      cmp -s whole/model.safetensors out/model.safetensors || wrong "$2: resumed to another model"
      ;;
    quantize | export | random) (($3 != 0)) || "$limpid" params out >/dev/null 2>&1 || wrong "$2: ended well and left a folder that does not open" ;;
    data) (($3 != 0)) || [[ $(wc -l <out/train.src) == 50 ]] || wrong "$2: ended well without its output" ;;
    capture) (($3 != 0)) || [[ -e out ]] || wrong "$2: ended well without its output" ;;
  esac
}

for command in "${commands[@]}"; do
  for call in "${calls[@]}"; do
    times=$(count "$command" "$call")
    for fault in "${faults[@]}"; do
      [[ $fault != EINTR || $call == @(write|read|pwrite64|pread64|openat) ]] || continue
      for ((n = 1; n <= times; ++n)); do
        cases=$((cases + 1))
        under=(strace -f -qq -o /dev/null -e "trace=$call" -e "inject=$call:error=$fault:when=$n")
        run "$command" >said.out 2>said
        code=$?
        name="$command, $call number $n fails with $fault"
        # The loader's own calls come first: it says so itself and nothing of ours has begun.
        grep -q 'error while loading shared libraries\|cannot open shared object' said && continue
        clear_end "$code" said || wrong "$name: exit code $code, says: $(tail -1 said)"
        check_result "$command" "$name" "$code"
      done
    done
  done
done
summary
