#!/usr/bin/env bash
# Kills a rank, any one, at a random moment, and goes on with another number of ranks: see README.md here.
# Usage: rank_kills.sh BUILD [KILLS]     KILLS: 20
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
source "$source_folder/tests/ranks.sh"
need_mpi "$build"
kills=${2:-20}
RANDOM=${LIMPID_SEED:-1}
long=(train "$source_folder/recipes/copy.toml" data.folder=copy batch.shards=8 batch.accumulate=2 optimizer.clip_norm=0.5
  model.d_model=128 model.encoder_ffn_dim=256 checkpoint.ema=0.9 checkpoint.average=2 stop.steps=$((90 * kills)) checkpoint.steps=5
  validation.steps=25 validation.translate=8 batch.tokens=256)
start=$(date +%s%N)
"$limpid" "${long[@]}" --threads 1 --out alone 2>log || { cat log; exit 1; }
took=$((($(date +%s%N) - start) / 1000000))

killed=0
for ((round = 1; killed < kills && round <= 3 * kills; ++round)); do
  n=$((2 + RANDOM % 7))
  victim=$((RANDOM % n))
  ranks "$n" "$limpid" "${long[@]}" --out parts >said 2>&1 &
  job=$!
  sleep "$(awk -v r="$RANDOM" -v t="$took" -v k="$kills" 'BEGIN { print 0.3 + r / 32768 * t / 1000 * 1.2 / k }')"
  pid=$(rank_process "$victim" parts)
  if [[ -z $pid ]] || ! kill -9 "$pid" 2>/dev/null; then # not yet there, or over
    kill -0 $job 2>/dev/null || break
    kill $job
    wait $job
    continue
  fi
  began=$EPOCHREALTIME
  for ((i = 0; i < 1200; ++i)); do kill -0 $job 2>/dev/null || break; sleep 0.1; done
  kill -0 $job 2>/dev/null && { wrong "round $round: $n ranks still there two minutes after rank $victim was killed"; kill -9 $job; }
  ended=$(awk -v a="$began" -v b="$EPOCHREALTIME" 'BEGIN { printf "%.1f", b - a }')
  if wait $job; then break; fi # the kill came after the end
  killed=$((killed + 1))
  grep -q "rank $victim" said || wrong "kill $killed: nothing about rank $victim of $n: $(tail -3 said)"
  printf 'kill %d: rank %d of %d at %s, all ended after %s s\n' "$killed" "$victim" "$n" \
    "$(cat parts/checkpoints/last 2>/dev/null || echo 'the beginning')" "$ended"
  case_done "kill $killed"
done
((killed == kills)) || wrong "the run was over after $killed of $kills kills"
ranks 3 "$limpid" "${long[@]}" --out parts >said 2>&1 || wrong "the last part: $(tail -3 said)"
cmp alone/model.safetensors parts/model.safetensors || wrong 'the models differ'
last=$(cat alone/checkpoints/last)
for file in model optimizer average; do
  cmp "alone/checkpoints/$last/$file.safetensors" "parts/checkpoints/$last/$file.safetensors" || wrong "$file differs"
done
case_done "the model after $killed kills"
summary
