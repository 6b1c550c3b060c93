#!/usr/bin/env bash
# Trains between hosts that are network namespaces, at several speeds; takes links down, cuts hosts from each other, kills ranks, and
# goes on: see README.md here.
# Usage: networks.sh BUILD [RATE...]     RATE: as tc has it (100mbit 1gbit)
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
source "$source_folder/tests/studies/hosts.sh"
source "$source_folder/tests/ranks.sh"
need_mpi "$build"
need_hosts
trap 'end_hosts; remove_hosts; rm -rf "$work"' EXIT
rates=("${@:2}")
((${#rates[@]})) || rates=(100mbit 1gbit)
timeout=5 keepalive=(1 1 2)
run=(train "$source_folder/recipes/copy.toml" data.folder="$work/copy" batch.shards=4 optimizer.clip_norm=0.5 model.d_model=128
  model.encoder_ffn_dim=256 checkpoint.ema=0.9 stop.steps=40 checkpoint.steps=10 validation.steps=20 validation.translate=8
  batch.tokens=256 --threads 1)
"$limpid" "${run[@]}" --out alone 2>log || { cat log; exit 1; }

# passed SINCE: seconds.
passed() { awk -v a="$1" -v b="$EPOCHREALTIME" 'BEGIN { printf "%.1f", b - a }'; }

# begin N FOLDER: a long run on N hosts in the background, until it has another checkpoint.
begin() {
  local before i
  before=$(cat "$2/checkpoints/last" 2>/dev/null)
  on_hosts "$1" "$limpid" "${run[@]}" --out "$2" --rank-timeout $timeout stop.steps=40000 checkpoint.steps=20 >said 2>&1 &
  job=$!
  for ((i = 0; i < 600; ++i)); do [[ $(cat "$2/checkpoints/last" 2>/dev/null) == "$before" ]] || return; sleep 0.1; done
  wrong "no checkpoint after a minute: $(tail -5 said)"
}

# left_on_hosts: ranks and mpirun. A daemon of Open MPI on a host that was cut off stays until TCP gives up, or the link is back.
left_on_hosts() { for pid in $(processes_of_hosts); do grep -xE 'limpid|mpirun' "/proc/$pid/comm" 2>/dev/null; done; }

# ended SECONDS WORDS WHAT: within so long no rank and no mpirun is left on the hosts, and WORDS were said.
ended() {
  local began=$EPOCHREALTIME took i
  for ((i = 0; i < 10 * $1 + 100; ++i)); do [[ $(left_on_hosts) ]] || break; sleep 0.1; done
  took=$(passed "$began")
  printf '%s: all ranks and mpirun ended after %s s\n' "$3" "$took"
  awk -v t="$took" -v most="$1" 'BEGIN { exit !(t <= most) }' || wrong "$3: ended after $took s"
  grep -Eq "$2" said || wrong "$3: nothing about /$2/: $(grep -F '[mpi]' said || tail -5 said)"
  end_hosts
  wait $job 2>/dev/null
  case_done "$3"
}

# resumed N FOLDER WHAT: another twenty updates from the last checkpoint, and the bits of one rank that was left alone.
resumed() {
  local last more
  last=$(sed 's/.*-0*//' "$2/checkpoints/last")
  more=(stop.steps=$((last + 20)) checkpoint.steps=20)
  on_hosts "$1" "$limpid" "${run[@]}" --out "$2" "${more[@]}" >said 2>&1 || wrong "$3, going on: $(tail -5 said)"
  "$limpid" "${run[@]}" --out "$2-alone" "${more[@]}" 2>log || wrong "alone: $(tail -3 log)"
  cmp "$2/model.safetensors" "$2-alone/model.safetensors" || wrong "$3: another model"
  case_done "$3, going on"
}

for hosts in 2 4; do
  for rate in "${rates[@]}"; do
    make_hosts "$hosts" "$rate" || exit 1
    out=$work/$hosts-$rate what="$hosts hosts at $rate"
    started=$EPOCHREALTIME
    on_hosts "$hosts" "$limpid" "${run[@]}" --out "$out" >said 2>&1 || wrong "$what: $(tail -5 said)"
    printf '%s: %s s\n' "$what" "$(passed "$started")"
    cmp alone/model.safetensors "$out/model.safetensors" || wrong "$what: another model"
    case_done "$what"

    begin "$hosts" "$out-cut"
    link_down 2
    ended $((timeout + 5)) 'rank 0: .*rank 1 \(process .* on limpid2\) has not been heard of' "$what, link of host 2 down"
    link_up 2
    sleep 1
    resumed "$hosts" "$out-cut" "$what, after a cut"
    remove_hosts
  done
done

make_hosts 4 "${rates[0]}" || exit 1
begin 4 killed
kill -9 "$(ip netns pids limpid3 | while read -r pid; do [[ $(readlink "/proc/$pid/exe") != "$limpid" ]] || echo "$pid"; done)"
ended $((timeout + 5)) 'rank 2' 'the rank on host 3 killed'
begin 4 killed
link_down 1 # of rank 0 and mpirun: the others have nobody left to tell
ended $((timeout + 10)) '' 'link of host 1 down'
link_up 1
sleep 1
resumed 4 killed 'after a killed rank and a lost first host'
timeout=3
begin 4 between
part 2 3
# Named are the ranks that are behind: one of the two or both, as the exchange happens to be that the cut meets.
ended $((12 * timeout + 10)) 'rank 0: .*rank [12] \(.* cannot go on' 'hosts 2 and 3 cut from each other'
remove_hosts
make_hosts 4 "${rates[0]}" || exit 1
resumed 4 between 'after two hosts were cut from each other'
remove_hosts

make_hosts 2
timeout=5
if delay_hosts 0.005; then
  delay=$(on_hosts 2 "$limpid" bench allreduce --mb 1 --rounds 1 2>/dev/null | sed -n 's/.*"latency_us":\([0-9]*\).*/\1/p')
  printf '2 hosts 5 ms apart: a small message takes %s us\n' "${delay:-?}"
  ((${delay:-0} >= 5000)) || wrong 'nothing is delayed'
  on_hosts 2 "$limpid" "${run[@]}" --out "$work/far" >said 2>&1 || wrong "with a delay: $(tail -5 said)"
  cmp alone/model.safetensors "$work/far/model.safetensors" || wrong 'another model with a delay'
  case_done 'hosts 5 ms apart'
  begin 2 "$work/far-cut"
  link_down 2
  ended $((timeout + 5)) 'rank 1 .*has not been heard of' '2 hosts 5 ms apart, link of host 2 down'
  remove_hosts
  make_hosts 2 && delay_hosts 0.005
  resumed 2 "$work/far-cut" '2 hosts 5 ms apart, after a cut'
else
  echo 'skipped: hosts with a delay: this kernel or container has neither netem nor /dev/net/tun'
fi
summary
