#!/usr/bin/env bash
# The commands that run models, over small models of every family: what each option promises, and what bad input says:
# one clear line on stderr, an exit code that is not 0, nothing on stdout.
# Usage: run_test.sh SOURCE_FOLDER BUILD_FOLDER
source "$1/tests/script.sh"
shared=$1/../shared

# says CODE PATTERN ARGUMENTS…: the exit code; with code 0 the output must match, else the message, of one line (wrong
# usage: two), and nothing may be written. Input is what stands in the file `in`.
: >in
says() {
  local code=$1 pattern=$2 got lines
  shift 2
  "$limpid" "$@" >out 2>err <in
  got=$?
  ((got == code)) || wrong "limpid $*: exit code $got instead of $code: $(cat err)"
  if ((code == 0)); then
    grep -Eq -- "$pattern" out || wrong "limpid $*: no match of $pattern in: $(cat out err)"
    return
  fi
  grep -Eq -- "$pattern" err || wrong "limpid $*: no match of $pattern in: $(cat err)"
  [[ -s out ]] && wrong "limpid $*: failed and wrote: $(cat out)"
  lines=$(wc -l <err)
  ((lines >= 1 && lines <= code)) || wrong "limpid $*: $lines lines of message: $(cat err)"
}

# ---- small models of every family, barely trained
"$limpid" data copy --out copy --count 300 >/dev/null || wrong 'no data'
paste copy/train.src <(cut -c1 copy/train.src | tr 'a-z' 'aabbbbbbbbbbbbbbbbbbbbbbbb') >copy/labels.tsv
quick=(data.folder=copy batch.tokens=256 stop.steps=40 validation.steps=40 validation.translate=2 checkpoint.steps=40)
train() {
  "$limpid" train "$@" "${quick[@]}" >train.log 2>&1 || wrong "train $*: $(tail -3 train.log)"
}
train "$1/recipes/copy.toml" --out marian model.d_model=16 model.encoder_ffn_dim=32 model.decoder_ffn_dim=32 \
  model.max_position_embeddings=24
cat >rnn.toml <<'RECIPE'
[data]
train = ["train.src", "train.tgt"]
valid = ["valid.src", "valid.tgt"]
[tokenizer]
kind = "words"
[model]
model_type = "rnn_seq2seq"
cell = "gru"
layers = 1
embed_dim = 8
hidden_size = 16
bidirectional = true
attention = "additive"
RECIPE
train rnn.toml --out rnn
cat >lm.toml <<'RECIPE'
[data]
train = ["train.src"]
valid = ["valid.src"]
unit = "lines"
[tokenizer]
kind = "words"
[model]
model_type = "llama"
hidden_size = 16
intermediate_size = 32
num_hidden_layers = 2
num_attention_heads = 2
num_key_value_heads = 1
max_position_embeddings = 24
RECIPE
train lm.toml --out lm
sed '/^\[model\]/,$d' lm.toml >bert.toml
cat >>bert.toml <<'RECIPE'
[model]
model_type = "bert"
hidden_size = 16
intermediate_size = 32
num_hidden_layers = 2
num_attention_heads = 2
max_position_embeddings = 24
RECIPE
train bert.toml --out bert
train bert.toml --out labels data.labels=true 'data.train=labels.tsv' 'data.valid=[]'
((failures > 0)) && exit 1

# ---- translate: Transformer and recurrent model alike. Without the recipe's own wishes, the commands' defaults hold.
rm -f marian/generation_config.json rnn/generation_config.json
printf 'a b c d\n\nq w e r t\n' >in
for model in marian rnn; do
  says 0 . translate $model
  (($(wc -l <out) == 3)) && [[ -z $(sed -n 2p out) ]] || wrong "$model: lines do not stand under each other"
  cp out four
  says 0 . translate $model --beam 4
  cmp -s out four || wrong "$model: the beam is not 4 unless told"
  says 0 . translate $model --texts-at-once 1
  cmp -s out four || wrong "$model: alone differs from together"
  says 0 . translate $model --memory 1MB
  cmp -s out four || wrong "$model: a bound of memory changes the result"
  says 0 . translate $model --beam 1
  cp out greedy
  says 0 . translate $model --samples 1 --temperature 0
  cmp -s out greedy || wrong "$model: the coldest draw is not greedy search"
  says 0 $'^1\t-?[0-9.]+\t' translate $model --n-best 3
  awk -F'\t' '$1 == last && $2 > score {exit 1} {last = $1; score = $2}' out || wrong "$model: n-best is not sorted: $(cat out)"
  (($(grep -c '^1' out) == 3)) || wrong "$model: not three of the first line"
  says 0 . translate $model --beam 29 --n-best 2 --length-penalty 0  # short texts, which end by themselves
  sed -n 's/^1\t\([^\t]*\)\t/a b c d\t/p' out >pairs
  sed -n 's/^1\t//p' out | cut -f1 >scores
  (($(wc -l <scores) == 2)) || wrong "$model: not two scores"
  "$limpid" translate $model --score --length-penalty 0 <pairs 2>err | cut -f2 >again
  paste scores again | awk '{d = $1 - $2; if (d > 2e-4 || d < -2e-4) exit 1}' ||
    wrong "$model: --score gives other scores than the search: $(paste scores again)"
  says 0 . translate $model --samples 2 --seed 5
  cp out drawn
  says 0 . translate $model --sample --seed 5 --n-best 2 # by their old names
  cmp -s out drawn || wrong "$model: the same seed, another draw"
  cp in source-lines
  : >in
  says 0 . translate $model --text source-lines --samples 2 --seed 5
  cmp -s out drawn || wrong "$model: --text reads something else than the standard input"
  cp source-lines in
  says 0 '^z z ' translate $model --prefix 'z z' --max-tokens 6
  says 0 . translate $model --max-tokens 2
  awk 'NF > 2 {exit 1}' out || wrong "$model: longer than --max-tokens: $(cat out)"
  says 0 '^' translate $model --no-repeat-ngram 1 --beam 2
  awk '{split("", seen); for (i = 1; i <= NF; ++i) if (seen[$i]++) exit 1}' out || wrong "$model: repeats: $(cat out)"
  says 0 '^' translate $model --repetition-penalty 3
  says 0 $'\t([0-9]+-[0-9]+ ?)*$' translate $model --alignment all
  says 0 '"weights":\[\[' translate $model --alignment 0.0 --json
  says 1 'layer' translate $model --alignment 7
  says 1 'such as 3' translate $model --alignment x
  says 2 'beam' translate $model --beam 0
  says 2 'beam' translate $model --beam -4
  says 1 'beam of 900.*vocabulary' translate $model --beam 900
  says 2 'n-best 5 needs' translate $model --n-best 5 --beam 2
  says 1 'bytes.*raise it' translate $model --memory 1KB
done
says 1 'no tab' translate marian --score
# A line longer than the model reads, or than wished, is translated in parts and joined again.
printf 'a b cc. D e ff. %s\n' "$(yes g | head -40 | tr '\n' ' ')" >in
says 0 '"parts":[3-9]' translate marian --json
grep -q 'sentence by sentence' err || wrong 'splitting is not told'
grep -q 'longer than the 23 tokens' err || wrong "an over-long sentence is not told: $(cat err)"
printf 'a b cc. D e ff.\n' >in
says 0 '"parts":1,' translate marian --json
says 0 '"parts":2,' translate marian --json --split-above 0
# What generation_config.json says holds where nothing else was asked for.
cp -r marian ruled
printf 'a b c d\n' >in
printf '{"min_length": 3}' >ruled/generation_config.json # a text in any case
first=$("$limpid" translate ruled --beam 1 <in 2>err | cut -d' ' -f1)
id=$("$limpid" tokenize marian --ids "$first" | tr -dc '0-9')
[[ -n $id ]] || { wrong 'the model writes nothing: no word to forbid'; id=5; }
printf '{"num_beams": 1, "eos_token_id": 1, "bad_words_ids": [[%s]], "max_length": 4}' "$id" >ruled/generation_config.json
says 0 '^' translate ruled
grep -qw -- "$first" out && wrong "a bad word was written: $(cat out)"
awk 'NF > 3 {exit 1}' out || wrong "max_length is not kept: $(cat out)"
printf '{"forced_bos_token_id": %s}' "$id" >ruled/generation_config.json
says 0 "^$first" translate ruled --max-tokens 5
printf '{"bad_words_ids": [[99999]]}' >ruled/generation_config.json
says 1 'bad_words_ids.*token id' translate ruled

# ---- complete
: >in
greedy=(--temperature 0 --ignore-end -n 8)
says 0 . complete lm 'a b c' "${greedy[@]}"
cp out streamed
says 0 '^a b c' complete lm 'a b c' "${greedy[@]}" --echo
says 0 '"finish_reason":"max tokens"' complete lm 'a b c' "${greedy[@]}" --json
says 0 '"top":\[\{' complete lm 'a b c' "${greedy[@]}" --json --log-probabilities 2
says 0 '^ *-[0-9.]+  "' complete lm 'a b c' "${greedy[@]}" --log-probabilities 0
says 0 . complete lm 'a b c' --seed 3 -n 12 --top-k 5 --top-p 0.9 --min-p 0.01 --repetition-penalty 1.2
cp out drawn
says 0 . complete lm 'a b c' --seed 3 -n 12 --top-k 5 --top-p 0.9 --min-p 0.01 --repetition-penalty 1.2
cmp -s out drawn || wrong 'complete: the same seed, another text'
says 0 '==> 4 <==' complete lm 'a b c' 'd e f' --samples 2 --seed 1 -n 4 --memory 1MB
word=$(tr ' ' '\n' <streamed | sed -n 3p)
says 0 '"stop_string"' complete lm 'a b c' "${greedy[@]}" --stop "$word" --json
says 0 . complete lm 'a b c' --temperature 0 --ignore-end -n 60
grep -q 'tokens were forgotten' err || wrong "a full context is not told: $(cat err)"
says 0 . complete lm 'a b c' --temperature 0 --ignore-end -n 60 --stop-at-context
grep -q 'context is full' err || wrong 'the end at the context is not told'
says 0 'time|deadline|"finish_reason":"deadline"' complete lm 'a b c' --seed 1 --ignore-end -n 100000000 --time-limit 0.3 --json
says 1 'prompt has .* tokens.*context 24.*shorten' complete lm --temperature 0 "$(yes a | head -30 | tr '\n' ' ')"
printf 'a b c\n/new\nd e f\n/quit\n' >in
says 0 . chat lm --temperature 0 -n 4 --ignore-end
(($(wc -l <out) == 2)) || wrong "chat: $(cat out)"
grep -q 'no chat template' err || wrong "a model without a chat template is not told: $(cat err)"
cp -r lm talker
printf '%s' "{% for m in messages %}{{ m.role[0] }} {{ m.content }} {% endfor %}" >talker/chat_template.jinja
printf 'a b\nc d\n/undo\n/system e\na\n/quit\n' >in
says 0 . chat talker --temperature 0 -n 3 --ignore-end --show-prompt
(($(wc -l <out) == 3)) || wrong "chat with a template: $(cat out)"
grep -q '^u a b a .* u c d $' err || wrong "the second turn lacks the first: $(cat err)"
grep -q '^s e u a $' err || wrong "the system prompt is missing: $(cat err)"
printf '[{"role": "user", "content": "a b"}]' >in
says 0 '^u a b $' tokenize talker --chat
says 0 '^[0-9 ]+$' tokenize talker --chat --ids
yes 'a b c d' | head -9 >in
says 0 . chat talker --temperature 0 -n 3 --ignore-end
grep -q 'messages were dropped' err || wrong "dropped turns are not told: $(cat err)"
: >in
says 2 'max-tokens' complete lm a -n 0
says 2 'temperature' complete lm a --temperature -1
says 1 'limpid translate' complete marian 'a b'
cp -r lm wishes
printf '{"do_sample": false, "max_new_tokens": 3, "suppress_tokens": [5, 6, 7, 8]}' >wishes/generation_config.json
says 0 '"tokens":\[(\{[^}]*\},?){0,3}\]' complete wishes 'a b c' --json

# ---- encoders: masks, labels, vectors
says 0 '%' complete bert 'a [MASK] c'
says 0 '"masks":\[\{' complete bert 'a [MASK] c' --json
printf 'a b c\nd e\n' >in
says 0 $'^[ab]\t[01]\\.' classify labels
says 0 '"probabilities"' classify labels --json
says 1 'does not classify' classify bert
for model in marian rnn lm bert; do
  says 0 '^-?[0-9.e-]+( -?[0-9.e-]+)+$' embed $model
  (($(wc -l <out) == 2)) || wrong "embed $model: not a vector per line"
  says 0 . embed $model --layer 0 --pooling last --normalize
  says 0 . embed $model --token 1
  says 1 'no token 9' embed $model --token 9
  says 1 'no layer 7' embed $model --layer 7
done

# ---- score and tokenize
says 0 'perplexity' score lm
says 0 '"rank":' score lm --json --top 2
says 1 'no tab' score marian
says 0 . tokenize lm --ids

# ---- text as it comes: --whole keeps every byte, the standard input is held to the same rules as files
printf 'a b' >in
says 0 . tokenize lm --whole --json
grep -q '"text":"a b"' out || wrong "--whole changed the text: $(cat out)"
mkdir bytes
printf '%s' '{"added_tokens":[],"normalizer":null,"pre_tokenizer":{"type":"ByteLevel","add_prefix_space":false},
  "post_processor":null,"decoder":{"type":"ByteLevel"},
  "model":{"type":"BPE","vocab":{"a":0,"b":1,"Ġ":2,"Ċ":3,"č":4},"merges":[]}}' >bytes/tokenizer.json
printf 'a b\r\n' >in
says 0 '^0 2 1 4 3$' tokenize bytes --whole --ids
printf 'a b' >in
says 0 '^0 2 1$' tokenize bytes --whole --ids
printf 'a \xff b\n' >in
cp in bad.txt
for verb in translate score; do
  says 1 'standard input:1: byte 3 of the line \(0xff\) is not UTF-8' $verb marian
  says 1 'bad.txt:1: byte 3 of the line \(0xff\) is not UTF-8' $verb marian bad.txt
done
says 1 'standard input:1: .*is not UTF-8' tokenize lm --whole
head -c 17000000 /dev/zero | tr '\0' a >in
says 1 'standard input:1: the line is longer than' tokenize lm
says 1 'the standard input is longer than' tokenize lm --whole
printf 'a b c d\nq w e r t\n' >in
says 0 . translate marian
cp out plain
gzip -c <in >packed && mv packed in
says 0 . translate marian
cmp -s out plain || wrong 'lines of gzip on the standard input are read otherwise'
head -c 30 in >packed && mv packed in
says 1 'standard input: its gzip data end too early' translate marian
rm in
: >in

# ---- what quantize and data did not make they leave alone
cp -r lm foreign
rm foreign/config.json
says 1 'holds something else than a model' quantize marian foreign --bits 8 --force
says 1 'holds a model already' random bert foreign
cmp -s lm/model.safetensors foreign/model.safetensors || wrong 'another model was written over'
says 1 'holds something else than a model' export marian lm --force
says 0 . quantize marian eight --bits 8
cp -r eight before
says 1 'eight is there already.*--force' quantize rnn eight --bits 8
diff -r eight before >diff || wrong "quantize that was refused changed a folder: $(cat diff)"
touch eight/tokenizer.model
says 0 . quantize rnn eight --bits 8 --force
[[ ! -e eight/tokenizer.model ]] || wrong 'quantize --force left a file of the model before'
printf 'a b\n' >in
says 0 . translate eight
: >in
sed 's/kind = "words"/kind = "bpe"\nvocab = 290/' lm.toml >pieces.toml
train pieces.toml --out pieces
says 0 . quantize pieces eight.gguf --bits 8
cp eight.gguf before.gguf
echo precious >notes.gguf
echo precious >notes.bin
for file in notes.gguf notes.bin; do
  says 1 "$file is there already" export lm $file
  says 1 "$file is there already" quantize lm $file --bits 8 --format gguf
  [[ $(cat $file) == precious ]] || wrong "$file was written over"
done
says 1 'eight.gguf is there already' quantize pieces eight.gguf --bits 4
cmp -s eight.gguf before.gguf || wrong 'quantize wrote over a GGUF file'
says 0 . quantize pieces eight.gguf --bits 4 --force
says 0 'Its tokens are in' export pieces one.bin
tokens=(tok*.bin)
says 0 'Its tokens are in' export pieces two.bin
echo precious >"${tokens[0]}"
says 1 'has other tokens' export pieces three.bin
[[ $(cat "${tokens[0]}") == precious && ! -e three.bin ]] || wrong 'export wrote over the tokens of another model'
mkdir mine && echo precious >mine/train.src
says 1 'train.src: is there already with other contents' data copy --out mine --count 3
[[ $(cat mine/train.src) == precious ]] || wrong 'data wrote over a file that it did not make'
says 0 . data copy --out copy --count 300

# ---- output that is lost is an error, whatever the command
# lost ARGUMENTS…: with a full disk behind the standard output.
lost() {
  "$limpid" "$@" >/dev/full 2>err <in && wrong "limpid $*: its output was lost and it ended well"
  grep -q 'the output could not be written' err || wrong "limpid $*: does not say that its output was lost: $(cat err)"
}
if [[ -c /dev/full ]]; then
  printf 'a b c\n' >in
  printf 'a b c\n' >same
  lost --help
  lost --version
  lost translate --help
  lost params marian
  lost verify "$1/tests/golden/gpt2"
  lost train "$1/recipes/copy.toml" --dump-config
  lost data copy
  lost data copy --out copy --count 300
  lost translate marian
  lost translate marian --json
  lost complete lm 'a b' -n 3
  lost score lm
  lost embed bert
  lost classify labels
  lost tokenize lm 'a b'
  lost evaluate --hypothesis same --reference same
  lost quantize marian nine --bits 8 --json
  lost info lm
  lost log lm
  lost recipes
  lost models
  lost plan "$1/recipes/copy.toml" data.folder=copy --seconds 0.1
  lost look lm taps
  lost look lm lens 'a b'
  lost look lm heatmap 'a b' --block 0
fi
: >in

# ---- numbers that are none; places beyond every tap; texts longer than the model was made for
for model in marian lm; do
  rm -rf ruined && cp -r $model ruined
  size=$(stat -c %s ruined/model.safetensors)
  for ((i = 0; i < 500; ++i)); do printf '\0\0\300\177'; done | dd of=ruined/model.safetensors bs=1 seek=$((size - 2000)) conv=notrunc 2>dd
  says 1 'are not numbers|hold NaN or infinity' look ruined attribution 'a b'
done
printf 'a b c\n' >in
says 1 'vectors are not numbers' embed ruined
"$limpid" sae train ruined --tap blocks.1.resid_post --text copy/train.src --steps 1 --out features >out 2>err <in
[[ $? == 1 ]] && grep -q 'values of this tap are not numbers' err || wrong "sae train of numbers that are none: $(cat err)"
# Of a text beyond the context its beginning is read, and of its end nothing.
yes a b c d e f g h | head -4 | tr '\n' ' ' >in
says 0 . embed lm
cp out long
[[ $(cat err) =~ has\ ([0-9]+)\ tokens,\ the\ model\ reads\ ([0-9]+) ]] || wrong "embed says nothing of a long text: $(cat err)"
cut -d' ' -f1-$((BASH_REMATCH[2] - (BASH_REMATCH[1] - 32))) in >begin && mv begin in
says 0 . embed lm
cmp -s out long || wrong 'the vector of a long text is not that of its beginning'
: >in
says 1 'has no feature 9999999999' look lm intervene 'a b' --zero 'blocks.0.resid_post[0..9999999999]'
says 0 . look lm lens "$(yes a | head -30 | tr '\n' ' ')"
grep -Eq 'has 3[0-9] tokens, the model reads 24: its end is left out' err || wrong "a text beyond the context is not told: $(cat err)"

# A word that a vocabulary of words lacks is told, with the nearest one.
says 0 . look lm lens 'a bb c'
grep -q '"bb" is not in the model.s vocabulary and is read as <unk>; did you mean b?' err || wrong "an unknown word in look: $(cat err)"
says 0 . complete lm 'a bb c' --temperature 0 -n 2
grep -q '"bb" is not in the model.s vocabulary' err || wrong "an unknown word in a prompt: $(cat err)"
says 1 '"bb" is not in the model.s vocabulary; did you mean b' look lm lens 'a b c' --token bb

# ---- broken models
for verb in translate complete embed score classify tokenize; do
  says 1 'nowhere' $verb nowhere
  mkdir -p empty
  says 1 'empty' $verb empty
done
for verb in translate score; do
  cp -r marian broken && truncate -s -100 broken/model.safetensors
  says 1 'model.safetensors.*(truncated|download)' $verb broken
  rm -rf broken && cp -r marian broken && sed -i 's/"decoder_ffn_dim": 32/"decoder_ffn_dim": 48/' broken/config.json
  says 1 'model.decoder.layers.0.fc1' $verb broken
  rm -rf broken && cp -r marian broken && sed -i 's/"decoder_layers": 1/"decoder_layers": 2/' broken/config.json
  says 1 'model.decoder.layers.1' $verb broken
  rm -rf broken && cp -r marian broken && printf '{' >broken/config.json
  says 1 'config.json' $verb broken
  rm -rf broken
done

# A record of training that is none keeps no model from being told.
cp -r lm odd
for record in '[]' '3' '{"command": 3, "version": [1]}'; do
  printf '%s' "$record" >odd/training.json
  says 0 'language model' info odd
done

# Without a vocabulary texts are token ids.
cp -r marian wordless && rm wordless/tokenizer.json wordless/tokenizer_config.json
printf '5 6 7\n' >in
says 0 '^[0-9]+( [0-9]+)*$' translate wordless --prefix '9 8' --max-tokens 4
grep -q '^9 8 ' out || wrong "ids: not begun as asked: $(cat out)"
grep -q 'token ids' err || wrong "a model without a vocabulary is not told: $(cat err)"
printf '5 6 7\t8 9\n' >in
says 0 . score wordless
printf 'a b\n' >in
"$limpid" translate wordless <in >out 2>err && wrong 'words were read as token ids'
grep -q '"a" is no token id' err || wrong "words for a model without a vocabulary: $(cat err)"
: >in

# A file that somebody shortens while it is in use: a message that names it instead of a crash.
cp -r marian shortened && mkfifo lines
"$limpid" translate shortened >out 2>err <lines &
running=$!
exec 9>lines
for _ in {1..600}; do
  grep -q shortened/model.safetensors "/proc/$running/maps" 2>/dev/null && break
  sleep 0.1
done
sleep 0.5
: >shortened/model.safetensors
printf 'a b c\n' >&9
exec 9>&-
wait $running
got=$?
((got == 1)) || wrong "a model shortened in use: exit code $got: $(cat err)"
grep -Eq 'shortened/model.safetensors: became shorter' err || wrong "a model shortened in use: $(cat err)"
rm -rf shortened lines

# ---- published ones
: >in
if [[ -d $shared/weights/stories260K ]]; then
  says 0 '^Once upon a time' complete "$shared/weights/stories260K/stories260K.bin" 'Once upon a time' --echo --temperature 0 -n 20
  head -c 100000 "$shared/weights/stories260K/stories260K.bin" >cut.bin
  cp "$shared/weights/stories260K/tok512.bin" .
  says 1 'cut.bin' complete cut.bin 'Once'
else
  echo 'no ../shared: published models are left out'
fi

all_as_expected
