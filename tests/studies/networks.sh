#!/usr/bin/env bash
# Trains between hosts that are network namespaces, at several speeds, takes a link down, and goes on: see README.md here.
# Usage: networks.sh BUILD [RATE...]     RATE: as tc has it (100mbit 1gbit)
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
source "$source_folder/tests/studies/hosts.sh"
need_hosts
trap 'remove_hosts; rm -rf "$work"' EXIT
rates=("${@:2}")
((${#rates[@]})) || rates=(100mbit 1gbit)
timeout=5
run=(train "$source_folder/recipes/copy.toml" data.folder="$work/copy" batch.shards=4 optimizer.clip_norm=0.5 model.d_model=128
  model.encoder_ffn_dim=256 checkpoint.ema=0.9 stop.steps=40 checkpoint.steps=10 validation.steps=20 validation.translate=8
  batch.tokens=256 --threads 1)
"$limpid" "${run[@]}" --out alone 2>log || { cat log; exit 1; }

# ranks_of FOLDER: the processes of its ranks.
ranks_of() { for pid in $(pgrep -f "limpid train.*--out $1"); do [[ $(readlink "/proc/$pid/exe") != "$limpid" ]] || echo "$pid"; done; }

for hosts in 2 4; do
  for rate in "${rates[@]}"; do
    make_hosts "$hosts" "$rate" || exit 1
    out=$work/$hosts-$rate
    cases=$((cases + 1))
    started=$EPOCHREALTIME
    on_hosts "$hosts" "$limpid" "${run[@]}" --out "$out" >said 2>&1 || wrong "$hosts hosts at $rate: $(tail -5 said)"
    printf '%d hosts at %s: %.1f s\n' "$hosts" "$rate" "$(awk -v a="$started" -v b="$EPOCHREALTIME" 'BEGIN { print b - a }')"
    cmp alone/model.safetensors "$out/model.safetensors" || wrong "$hosts hosts at $rate: another model"

    # A link goes down in the middle of a longer run.
    cases=$((cases + 1))
    on_hosts "$hosts" "$limpid" "${run[@]}" --out "$out-cut" --rank-timeout $timeout stop.steps=4000 checkpoint.steps=20 >said 2>&1 &
    job=$!
    for ((i = 0; i < 300; ++i)); do [[ ! -f $out-cut/checkpoints/last ]] || break; sleep 0.1; done
    link_down 2
    began=$EPOCHREALTIME
    for ((i = 0; i < 300; ++i)); do [[ $(ranks_of "$out-cut") ]] || break; sleep 0.1; done
    ended=$(awk -v a="$began" -v b="$EPOCHREALTIME" 'BEGIN { printf "%.1f", b - a }')
    printf '%d hosts at %s: link of host 2 down, all ranks ended after %s s\n' "$hosts" "$rate" "$ended"
    awk -v t="$ended" -v most="$timeout" 'BEGIN { exit !(t <= most + 3) }' || wrong "ended after $ended s"
    grep -q 'rank 0: .*rank 1 (process .* on limpid2) has not been heard of' said || wrong "nothing about rank 1: $(tail -5 said)"
    # mpirun itself waits for the daemon that it cannot reach.
    pkill -9 -P $job 2>/dev/null
    kill -9 $job 2>/dev/null
    wait $job 2>/dev/null
    for pid in $(pgrep -x orted); do
      [[ $(readlink "/proc/$pid/ns/net") == "$(readlink /proc/$$/ns/net)" ]] || kill -9 "$pid" # a daemon of one of our hosts
    done
    link_up 2
    sleep 1
    cases=$((cases + 1))
    last=$(sed 's/.*-0*//' "$out-cut/checkpoints/last")
    more=(stop.steps=$((last + 20)) checkpoint.steps=20)
    on_hosts "$hosts" "$limpid" "${run[@]}" --out "$out-cut" "${more[@]}" >said 2>&1 || wrong "going on: $(tail -5 said)"
    "$limpid" "${run[@]}" --out "$out-alone" "${more[@]}" 2>log || wrong "alone: $(tail -3 log)"
    cmp "$out-cut/model.safetensors" "$out-alone/model.safetensors" || wrong "$hosts hosts at $rate: another model after a cut"
    remove_hosts
  done
done
cases=$((cases + 1))
make_hosts 2 && delay_hosts 0.005 || wrong 'packets cannot be delayed here'
delay=$(on_hosts 2 "$limpid" bench allreduce --mb 1 --rounds 1 2>/dev/null | sed -n 's/.*"latency_us":\([0-9]*\).*/\1/p')
printf '2 hosts 5 ms apart: a small message takes %s us\n' "${delay:-?}"
((${delay:-0} >= 5000)) || wrong 'nothing is delayed'
on_hosts 2 "$limpid" "${run[@]}" --out "$work/far" >said 2>&1 || wrong "with a delay: $(tail -5 said)"
cmp alone/model.safetensors "$work/far/model.safetensors" || wrong 'another model with a delay'
summary
