#!/usr/bin/env bash
# Kills runs of every family at random moments: see README.md here.
# Usage: kills.sh BUILD [KILLS]     KILLS of each family (50)
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
kills=${2:-50}
RANDOM=${LIMPID_SEED:-1}
cut -f1 copy/train.src >copy/text
cat >gpt2.toml <<'T'
[data]
train = ["text"]
[tokenizer]
kind = "words"
[model]
model_type = "gpt2"
n_embd = 16
n_layer = 1
n_head = 2
n_positions = 64
T
sed 's/"gpt2"/"bert"/; s/n_embd/hidden_size/; s/n_layer/num_hidden_layers/; s/n_head/num_attention_heads/; s/n_positions = 64/max_position_embeddings = 64\nintermediate_size = 16/' gpt2.toml >bert.toml
cat >rnn.toml <<'T'
[data]
train = ["train.src", "train.tgt"]
valid = ["valid.src", "valid.tgt"]
[tokenizer]
kind = "words"
[model]
model_type = "rnn_seq2seq"
embed_dim = 8
hidden_size = 16
layers = 1
cell = "gru"
T

for family in "$source_folder/recipes/copy.toml" gpt2.toml bert.toml rnn.toml; do
  name=$(basename "$family" .toml)
  settings=(data.folder=copy batch.tokens=128 stop.steps=$((8 * kills)) validation.steps=7 validation.translate=2
    checkpoint.steps=3 checkpoint.ema=0.9)
  start=$(date +%s%N)
  "$limpid" train "$family" --out "$name-whole" "${settings[@]}" 2>log || { wrong "$name: $(tail -1 log)"; continue; }
  took=$(($(date +%s%N) - start))
  killed=0
  while ((killed < kills)); do
    cases=$((cases + 1))
    "$limpid" train "$family" --out "$name" "${settings[@]}" 2>log &
    pid=$!
    # Others try to get in meanwhile; one of them may take the lock away, or the folder.
    "$limpid" train "$family" --out "$name" "${settings[@]}" 2>second & second=$!
    sleep "$(awk -v r="$RANDOM" -v t="$took" -v k="$kills" 'BEGIN { print 0.05 + r / 32768 * t / 1e9 * 1.5 / k }')"
    case $((RANDOM % 6)) in
      0) rm -f "$name/lock" ;;
      1) mv "$name" "$name-moved" 2>/dev/null && sleep 0.1 && { rm -rf "$name"; mv "$name-moved" "$name"; } ;;
    esac
    kill -9 "$pid" "$second" 2>/dev/null
    wait "$pid" "$second" 2>/dev/null
    killed=$((killed + 1))
    grep -hiE 'damaged|unexpected' log second && wrong "$name: after $killed kills"
  done
  "$limpid" train "$family" --out "$name" "${settings[@]}" 2>log || wrong "$name: the last part: $(tail -1 log)"
  cmp -s "$name-whole/model.safetensors" "$name/model.safetensors" || wrong "$name: another model after $killed kills"
done
summary
