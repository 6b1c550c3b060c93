#!/usr/bin/env bash
# The walk of a new user: five goals, at most two commands each, with nothing but files of one's own.
# Usage: own_text_test.sh SOURCE_FOLDER BUILD_FOLDER
source "$1/tests/script.sh"

# goal NAME PATTERN COMMANDS…: one or two commands; all succeed, and what the last one prints matches. Messages are kept apart
# from output: which of the two comes first is up to the machine.
goal() {
  local name=$1 pattern=$2
  shift 2
  (($# <= 2)) || wrong "$name takes $# commands"
  for command in "$@"; do
    bash -o pipefail -c "$command" >last 2>messages </dev/null || wrong "$name: $command: $(tail -n 5 -q last messages)"
    cat last messages >>output-"$name"
  done
  grep -Eq -- "$pattern" last || wrong "$name: no match of $pattern in: $(tail -n 20 -q last messages)"
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
from() { "$limpid" train "${@:2}" --out "from-$1" --minutes 0.1 stop.steps=3 >from 2>&1 || wrong "--from $1: $(cat from)"; }
from gguf --text book.txt --from my-writer.gguf
"$limpid" train --text book.txt --out small-llama model.model_type=llama stop.steps=3 >from 2>&1 || wrong "llama: $(cat from)"
"$limpid" export small-llama small.bin >from 2>&1 || wrong "export: $(cat from)"
mv tok*.bin tokenizer.bin 2>/dev/null
from llama2c --text book.txt --from small.bin
# a family that limpid train would not choose, with more rows than its tokenizer has tokens
cat >config.json <<'END'
{"model_type": "qwen2", "vocab_size": 9000, "hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 1,
 "num_attention_heads": 2, "num_key_value_heads": 1, "max_position_embeddings": 64, "tie_word_embeddings": true,
 "rms_norm_eps": 1e-6, "rope_theta": 10000.0, "max_window_layers": 1, "unheard_of": 1}
END
"$limpid" random config.json qwen >from 2>&1 || wrong "random: $(cat from)"
cp my-writer/tokenizer* qwen
from qwen --text book.txt --from qwen
"$limpid" info from-qwen | grep 'qwen2' >/dev/null || wrong "qwen: $("$limpid" info from-qwen)"
grep -q '"vocab_size": 9000' from-qwen/config.json || wrong 'rows of a published model are lost'
# a model of few positions: longer pairs are left out
sed -E 's/("max_position_embeddings"): [0-9]+/\1: 12/' my-translator/config.json >short.json
"$limpid" random short.json short >from 2>&1 || wrong "random: $(cat from)"
cp my-translator/{*.spm,vocab.json,tokenizer_config.json} short
from positions --pairs my.tsv --from short
grep -q 'longer than data.max_length' from || wrong "positions: $(cat from)"
[[ $(sed -n 's/^warmup = \([0-9]*\).*/\1/p' from-positions/recipe.toml) -le 1 ]] || wrong 'warm-up of three steps'

# ---- running again with other options
"$limpid" train --pairs my.en my.ko --minutes 0.2 --out my-translator >longer 2>&1 || wrong "longer: $(cat longer)"
grep -q '0.2 minutes instead of 0.1' longer && grep -Eq '^step [0-9]+' longer || wrong "more minutes: $(cat longer)"
"$limpid" train --pairs my.en my.ko --minutes 0.2 --out my-translator --from my-writer >other 2>&1 && wrong '--from in a run without it'
grep -q 'begun without --from' other || wrong "--from: $(cat other)"
"$limpid" train --pairs my.en my.ko --out x --chars >/dev/null 2>chars && wrong '--chars of pairs'
grep -q 'says how --text is read' chars || wrong "$(cat chars)"
"$limpid" train --pairs my.en my.ko --minutes 0.2 --out my-translator --json >finished 2>/dev/null || wrong 'a finished run'
grep -q '^{"folder":"my-translator",.*}$' finished || wrong "train --json of a finished run: $(cat finished)"
# long texts with labels
awk '{ for (i = 0; i < 40; ++i) line = line " " $0; print (NR % 2 ? "good" : "bad") "\t" line; line = "" }' <(head -60 my.en) >long.tsv
"$limpid" train --labels long.tsv --minutes 0.05 --out long stop.steps=2 >long.log 2>&1 || wrong "long texts: $(cat long.log)"

# ---- a run that is followed, and one whose process died
"$limpid" log my-translator --follow --svg followed.svg >followed 2>&1 || wrong "log --follow: $(cat followed)"
grep -q '</svg>' followed.svg || wrong 'log --follow --svg writes nothing'
"$limpid" log my-translator --follow --json | grep '^{"run":.*}$' >/dev/null || wrong 'log --follow --json'
mkdir dead && grep -v '"finished"' my-translator/log.jsonl >dead/log.jsonl
timeout 20 "$limpid" log dead --follow >/dev/null 2>died || wrong 'log --follow waits for a process that has died'
grep -q 'no process works at it' died || wrong "$(cat died)"
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
COLUMNS=80 "$limpid" recipes >list || wrong 'recipes'
grep -q '^translate ' list || wrong 'recipes does not list translate'
grep -q '^shakespeare-char .*52 s .*1.895' list || wrong "no time and score in $(cat list)"
awk 'length > 80' list | grep . && wrong 'recipes is wider than 80 columns'
"$limpid" recipes --json | grep '^{"name":"facts",.*"here":false,.*"time":"55 s",.*}$' >/dev/null || wrong 'recipes --json'
"$limpid" recipes translate | grep 'from your own pairs' >/dev/null || wrong 'recipes translate'
mkdir recipes && echo 'name = "of another program"' >recipes/foo.toml
"$limpid" recipes >list 2>foo || wrong 'a recipe of another program ends the list'
grep -q '^translate ' list && grep -q 'foo is left out' foo || wrong "another program's recipe: $(cat foo)"
rm -r recipes
for recipe in translate gpt llama bert classify rnn english-korean-help; do
  grep -E '^[a-z_]+ = ' "$1/recipes/$recipe.toml" | grep -vE '^(description|note) =|  # ' && wrong "$recipe: keys without a remark"
done
model_of() { sed -n '/^\[model\]/,/^\[optimizer\]/s/ *#.*//p' "$1/recipes/$2.toml" | grep -v dropout; }
[[ $(model_of "$1" bert) == $(model_of "$1" classify) ]] || wrong 'classify cannot go on from bert'
"$limpid" train translate --out neutral 'data.train=["my.en", "my.ko"]' model.d_model=32 model.encoder_ffn_dim=64 \
  model.decoder_ffn_dim=64 stop.steps=3 schedule.warmup=1 tokenizer.vocab=1000 >neutral.log 2>&1 || wrong "neutral recipe: $(cat neutral.log)"
"$limpid" train english-korean --out own 'data.train=["my.en", "my.ko"]' stop.steps=3 schedule.warmup=1 >own.log 2>&1 ||
  wrong "other text for a recipe: $(cat own.log)"
LIMPID_DATA=$work/none "$limpid" train shakespeare-char --out s >/dev/null 2>missing && wrong 'data that are not there'
grep -q 'limpid get shakespeare' missing || wrong "$(cat missing)"

all_as_expected
