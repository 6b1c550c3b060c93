#!/usr/bin/env bash
# A run that is killed at random moments and resumed each time ends with the same model, bit for bit, as one that was
# left alone, and never meets a checkpoint it cannot read. LIMPID_KILLS says how often (6; the full study: 50).
# Usage: resume_test.sh SOURCE_FOLDER BUILD_FOLDER
source "$1/tests/script.sh"
recipe=$1/recipes/copy.toml
kills=${LIMPID_KILLS:-6}

"$limpid" data copy --out copy --count 5000 >/dev/null || fail 'no data'
# Checkpoints often, a moving average and dropout, so that everything a checkpoint holds matters.
settings=(stop.steps=$((20 * kills)) checkpoint.steps=4 validation.steps=15 validation.translate=20 checkpoint.ema=0.9
  schedule.kind=cosine checkpoint.average=3 optimizer.weight_decay=0.01 batch.accumulate=2)

start=$(date +%s%N)
"$limpid" train "$recipe" --out whole "${settings[@]}" 2>whole.log || fail "the run left alone: $(cat whole.log)"
took=$(($(date +%s%N) - start))

# Moments are drawn from the time an uninterrupted run of some steps takes, so that most kills fall into training.
killed=0
RANDOM=${LIMPID_SEED:-1}
while ((killed < kills)); do
  "$limpid" train "$recipe" --out parts "${settings[@]}" 2>>parts.log &
  pid=$!
  sleep "$(awk -v r="$RANDOM" -v t="$took" -v k="$kills" 'BEGIN { print 0.03 + r / 32768 * t / 1e9 * 1.2 / k }')"
  if kill -9 "$pid" 2>/dev/null; then killed=$((killed + 1)); else break; fi
  wait "$pid" 2>/dev/null
done
wait 2>/dev/null
"$limpid" train "$recipe" --out parts "${settings[@]}" 2>>parts.log || fail "the last part: $(tail -5 parts.log)"

grep -Eiq 'damaged|unreadable|checksum' parts.log && fail "a checkpoint could not be read: $(cat parts.log)"
cmp whole/model.safetensors parts/model.safetensors || fail "the models differ after $killed kills"
for name in whole parts; do
  grep '"event":"step"' "$name/log.jsonl" | sed 's/,"tokens_per_second.*//' >"$name.steps"
done
cmp whole.steps parts.steps || fail 'the logs differ'

# Ctrl-C and SIGTERM save and end in order; the folder of a run that is alive is refused.
"$limpid" train "$recipe" --out alive "${settings[@]}" stop.steps=100000 2>alive.log &
pid=$!
until grep -q 'step' alive/log.jsonl 2>/dev/null; do sleep 0.1; done
"$limpid" train "$recipe" --out alive "${settings[@]}" 2>second.log && fail 'a second run in the same folder was let in'
grep -q "$pid" second.log || fail "the message does not name the process: $(cat second.log)"
kill -TERM "$pid"
wait "$pid"
code=$?
((code == 143)) || fail "SIGTERM gave exit code $code: $(cat alive.log)"
grep -q 'Saved at step' alive.log || fail "SIGTERM did not say what it saved: $(cat alive.log)"

printf '%s kills, the same model\n' "$killed"
