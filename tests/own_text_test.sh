#!/usr/bin/env bash
# The walk of a new user: five goals, at most two commands each, with nothing but files of one's own.
# Usage: own_text_test.sh SOURCE_FOLDER BUILD_FOLDER
source "$1/tests/script.sh"

# goal NAME PATTERN COMMANDS…: one or two commands; all succeed, and what the last one prints matches.
goal() {
  local name=$1 pattern=$2
  shift 2
  (($# <= 2)) || wrong "$name takes $# commands"
  for command in "$@"; do
    bash -o pipefail -c "$command" >last 2>&1 </dev/null || wrong "$name: $command: $(tail -5 last)"
    cat last >>output-"$name"
  done
  grep -Eq -- "$pattern" last || wrong "$name: no match of $pattern in: $(tail -20 last)"
}

# ---- files of one's own
"$limpid" data english-korean --out pairs --count 3000 >/dev/null 2>&1 || wrong 'no pairs'
head -2000 pairs/train.en >my.en
head -2000 pairs/train.ko >my.ko
paste my.en my.ko >my.tsv
sed 's/$/ Then they went home./' my.en >book.txt
awk 'NR % 2 { print "good\tI like this " $0; next } { print "bad\tI hate this " $0 }' my.en >reviews.tsv

goal pairs '\.$' "'$limpid' train --pairs my.en my.ko --minutes 0.1 --out my-translator" \
  "echo 'The teacher reads three books.' | '$limpid' translate my-translator"
goal text '[a-z]+ [a-z]+' "'$limpid' train --text book.txt --minutes 0.1 --out my-writer" \
  "'$limpid' complete my-writer 'The teacher' -n 10"
goal labels 'good|bad' "'$limpid' train --labels reviews.tsv --minutes 0.1 --out my-classifier" \
  "echo 'I like this book.' | '$limpid' classify my-classifier"
goal picture '<start> → .*[░▒▓█]' "'$limpid' look my-translator heatmap 'The teacher reads three books.' --cross --pattern --block 0"
goal count 'total' "'$limpid' params my-translator"
# a checkpoint that another program wrote (PyTorch, in Hugging Face's form; it comes without a tokenizer, so it takes ids)
goal checkpoint '^ ?[0-9]+( [0-9]+){3}$' "'$limpid' info '$1/tests/golden/llama'" "'$limpid' complete '$1/tests/golden/llama' '5 6 7' -n 4"
goal format 'model +language model|llama' "'$limpid' export my-writer my-writer.gguf" "'$limpid' info my-writer.gguf"

# ---- what the folder holds, and what another run says
grep -q '^d_model' my-translator/recipe.toml || wrong 'the recipe is not in the folder'
"$limpid" train --pairs my.en my.ko --minutes 0.1 --out my-translator >again 2>&1 || wrong "running again: $(cat again)"
grep -q 'chosen before' again || wrong 'a second run does not go on by the same recipe'
"$limpid" train --pairs my.tsv --minutes 0.1 --out my-translator >other 2>&1 && wrong 'other text in the same folder'
grep -q 'other text' other || wrong "other text: $(cat other)"
"$limpid" plan --pairs my.tsv --minutes 5 --seconds 0.2 >plan 2>&1 || wrong "plan: $(cat plan)"
grep -q '^vocabulary\|^tokens' plan && grep -q '^schedule' plan && grep -q '^model' plan || wrong "plan: $(cat plan)"
(($(grep -c 'training the tokenizer' plan) == 1)) || wrong "plan prepares the text more than once: $(cat plan)"
"$limpid" train --pairs my.tsv --from my-translator --minutes 0.1 --out adapted stop.steps=3 >from 2>&1 || wrong "--from: $(cat from)"
"$limpid" evaluate my-translator >score 2>&1 || wrong "evaluate: $(cat score)"
grep -q 'chrF' score || wrong "evaluate: $(cat score)"
"$limpid" log my-translator adapted --svg runs.svg >log 2>&1 || wrong "log: $(cat log)"
grep -q '</svg>' runs.svg || wrong 'no picture of the runs'
"$limpid" log my-translator --json | grep '^{"run":.*}$' >/dev/null || wrong 'log --json is not one object per line'
"$limpid" info adapted >info 2>&1 && grep -Eq '^steps +3$' info || wrong "info: $(cat info)"
done_after=$(sed -n 's/^Done after \([0-9]*\) steps.*/\1/p' output-labels)
[[ -z $done_after ]] || "$limpid" log my-classifier | grep "step $done_after," >/dev/null || wrong "log: $("$limpid" log my-classifier | tail -2)"
"$limpid" log book.txt >/dev/null 2>no-run && wrong 'a log of a text'
grep -q 'no log of a training run' no-run || wrong "$(cat no-run)"
"$limpid" train --pairs my.en --text book.txt --out x >/dev/null 2>both && wrong 'two tasks at once'
grep -q 'three different tasks' both || wrong "$(cat both)"
"$limpid" recipes | grep '^translate$' >/dev/null || wrong 'recipes does not list translate'
"$limpid" train translate --out neutral 'data.train=["my.en", "my.ko"]' model.d_model=32 model.encoder_ffn_dim=64 \
  model.decoder_ffn_dim=64 stop.steps=3 schedule.warmup=1 tokenizer.vocab=1000 >neutral.log 2>&1 || wrong "neutral recipe: $(cat neutral.log)"
"$limpid" train english-korean --out own 'data.train=["my.en", "my.ko"]' stop.steps=3 schedule.warmup=1 >own.log 2>&1 ||
  wrong "other text for a recipe: $(cat own.log)"
LIMPID_DATA=$work/none "$limpid" train shakespeare-char --out s >/dev/null 2>missing && wrong 'data that are not there'
grep -q 'limpid get shakespeare' missing || wrong "$(cat missing)"

all_as_expected
