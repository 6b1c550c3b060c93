#!/usr/bin/env bash
# Kills runs of every family at random moments: see README.md here.
# Usage: kills.sh BUILD [ROUNDS [KILLS]]     rounds of each of the six families (6), kills in a round (28): 1,008 in all
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
rounds=${2:-6} kills=${3:-28}
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

awk 'BEGIN { srand(1); for (i = 0; i < 400; ++i) print (i % 2 ? "good" : "bad") "\t" (i % 2 ? "a fine day " : "a sad day ") int(9 * rand()) }' >copy/labels.tsv
sed 's/"text"/"labels.tsv"/; s/\[tokenizer\]/labels = true\n&/' bert.toml >labels.toml
cp copy/train.src own.en && cp copy/train.tgt own.ko

# train_family NAME FOLDER: the same command for every part of a run.
train_family() {
  local what settings=(batch.tokens=128 stop.steps=$((8 * kills)) validation.steps=7 checkpoint.steps=3 checkpoint.ema=0.9)
  case $1 in
    copy) what=("$source_folder/recipes/copy.toml" data.folder=copy validation.translate=2) ;;
    pairs) what=(--pairs own.en own.ko --minutes 0.1 stop.minutes=0 validation.translate=2) ;;
    rnn) what=(rnn.toml data.folder=copy validation.translate=2) ;;
    *) what=("$1.toml" data.folder=copy) ;;
  esac
  exec "$limpid" train "${what[@]}" --out "$2" "${settings[@]}"
}

# taken_away FOLDER PROCESS: while the run works in it. The run stops by itself, says why, and makes no second folder.
taken_away() {
  local tries=100
  mv "$1" "$1-moved" 2>/dev/null || return
  while ((tries-- > 0)) && kill -0 "$2" 2>/dev/null; do sleep 0.1; done
  if ((tries > 0)); then
    wait "$2" && ! grep -q '^After\|is finished' log && wrong 'its folder was moved and it ended well'
  else
    wrong 'its folder was moved and it goes on'
  fi
  [[ ! -e $1 ]] || wrong "its folder was moved and it made another: $(ls "$1")"
  rm -rf "$1" && mv "$1-moved" "$1"
}

for name in copy gpt2 bert rnn labels pairs; do
  rm -rf "$name-whole"
  for ((round = 1; round <= rounds; ++round)); do
    case_begins "$name, round $round of $kills kills" || continue
    RANDOM=$((1000 * ${LIMPID_SEED:-1} + round))
    start=$(date +%s%N)
    if [[ ! -e $name-whole ]]; then
      (train_family "$name" "$name-whole") 2>log || { wrong "left alone: $(tail -1 log)" && break; }
      took=$(($(date +%s%N) - start))
    fi
    rm -rf "$name-run"
    for ((killed = 0; killed < kills; ++killed)); do
      (train_family "$name" "$name-run") >log 2>&1 & pid=$!
      (train_family "$name" "$name-run") >second 2>&1 & second=$! # others try to get in meanwhile
      sleep "$(awk -v r="$RANDOM" -v t="$took" -v k="$kills" 'BEGIN { print 0.05 + r / 32768 * t / 1e9 * 1.5 / k }')"
      case $((RANDOM % 6)) in
        0) rm -f "$name-run/lock" ;;
        1) kill -9 "$second" 2>/dev/null && wait "$second" 2>/dev/null
          taken_away "$name-run" "$pid" ;;
      esac
      kill -9 "$pid" "$second" 2>/dev/null
      wait "$pid" "$second" 2>/dev/null
      grep -hiE 'damaged|unexpected' log second && wrong "after $killed kills"
    done
    (train_family "$name" "$name-run") >log 2>&1 || wrong "the last part: $(tail -1 log)"
    # What was chosen for these texts depends on the machine's speed: the same once more, by its recipe.
    [[ $name != pairs ]] || { rm -rf pairs-whole && "$limpid" train pairs-run/recipe.toml --out pairs-whole >log 2>&1; }
    cmp -s "$name-whole/model.safetensors" "$name-run/model.safetensors" || wrong "another model after $kills kills"
  done
done
summary
