#!/usr/bin/env bash
# limpid train meets bad input, full disks and odd requests: a clear line on stderr, the right exit code, and what was
# good before stays good.
# Usage: train_test.sh SOURCE_FOLDER BUILD_FOLDER
source "$1/tests/script.sh"
recipe=$1/recipes/copy.toml
mounted=
leave() { [[ -z $mounted ]] || umount "$work/small"; }

# expect CODE PATTERN ARGUMENTS…: limpid train ends with this code and says something that matches on stderr.
expect() {
  local code=$1 pattern=$2 got
  shift 2
  "$limpid" train "$@" >out 2>err </dev/null
  got=$?
  ((got == code)) || wrong "train $*: exit code $got instead of $code: $(cat err)"
  grep -Eq -- "$pattern" err || wrong "train $*: no match of $pattern in: $(cat err)"
}

"$limpid" data copy --out copy --count 300 >/dev/null || wrong 'no data'
small=(model.d_model=16 model.encoder_ffn_dim=32 model.decoder_ffn_dim=32 stop.steps=20 validation.steps=10
  validation.translate=5 checkpoint.steps=10 batch.tokens=256)

# ---- the text
mkdir bad
cp copy/* bad
printf 'a\nb\n' >bad/two
printf 'a\n' >bad/one
printf 'a b\nc \xff d\n' >bad/broken
: >bad/empty
printf 'a\tb\nc\n' >bad/table
given=("$recipe" --out run "${small[@]}" data.folder=bad)
expect 1 'bad/nowhere' "${given[@]}" 'data.train=["train.src", "nowhere"]'
expect 1 'one has 1 lines.*two has 2' "${given[@]}" 'data.train=["two", "one"]'
expect 1 'broken:2: .*UTF-8' "${given[@]}" 'data.train=["two", "broken"]'
expect 1 'empty is empty' "${given[@]}" 'data.train=["empty", "empty"]'
expect 1 'table: line 2 has no column 1' "${given[@]}" 'data.train=table'
expect 1 'all dropped' "${given[@]}" data.max_length=1
expect 1 'only 4 positions.*data.max_length' "${given[@]}" model.max_position_embeddings=4
rm -rf run
sed -n '7,9p' copy/train.src >bad/known.src
sed -n '7,9p' copy/train.tgt >bad/known.tgt
expect 0 '3 validation examples stand in the training text too \(first: line 7\)' "${given[@]}" stop.steps=1 \
  'data.valid=["known.src", "known.tgt"]'

# ---- the recipe
expect 1 'stop.step is not a known key.*did you mean stop.steps\?' "$recipe" --out other stop.step=5
expect 1 'there is no recipe copi.*did you mean copy\?' copi --out other
expect 1 'validation.metric is "loss2".*loss, bleu' "$recipe" --out other validation.metric=loss2
expect 2 '--out is required' "$recipe"
expect 2 'See .*limpid train --help' "$recipe" --outt other
printf '[model]\nmodel_type = \n' >broken.toml
expect 1 'broken.toml: line 2' broken.toml --out other
expect 1 'did you mean d_model\?' "$recipe" model.d_modle=8 --out other
printf '[model]\nmodel_type = "gpt2"\n[stop]\nsteps = 1\n' >bare.toml
expect 1 'n_embd, n_layer, .*are missing.*model.n_embd=128 model.n_layer=2 ' bare.toml --out other
expect 1 'decoder_attention_heads.*7' "$recipe" model.decoder_attention_heads=7 --dump-config
[[ -e other ]] && wrong 'a wrong recipe left a folder behind'

"$limpid" train "$recipe" --dump-config schedule.warmup=7 'data.train=["a \"b\"", "c"]' >first.toml || wrong 'no dump'
"$limpid" train first.toml --dump-config >second.toml || wrong 'the dump cannot be read'
cmp first.toml second.toml || wrong 'a dump of the dump differs'
grep -q 'warmup = 7' first.toml || wrong 'the dump lacks an override'

# ---- the folder
mkdir taken
echo precious >taken/file
expect 1 'taken' "$recipe" --out taken "${small[@]}" data.folder=copy
[[ $(cat taken/file) == precious && $(ls taken) == file ]] || wrong 'a folder that holds something else was touched'

# ---- .gz and plain text make the same model
mkdir packed
for file in copy/*; do gzip -c "$file" >"packed/${file#copy/}.gz"; done
expect 0 'Done after 20 steps' "$recipe" --out plain "${small[@]}" data.folder=copy
expect 0 'Done after 20 steps' "$recipe" --out from-gz "${small[@]}" data.folder=packed \
  'data.train=["train.src.gz", "train.tgt.gz"]' 'data.valid=["valid.src.gz", "valid.tgt.gz"]'
cmp plain/model.safetensors from-gz/model.safetensors || wrong '.gz gives another model'

# ---- a run that is finished
given=("$recipe" --out plain "${small[@]}" data.folder=copy)
cp plain/model.safetensors before.safetensors
expect 0 'finished after 20 steps.*nothing was changed' "${given[@]}"
expect 0 'finished after 20 steps.*nothing was changed' "${given[@]}" stop.steps=5
expect 1 'schedule.learning_rate [0-9.e-]+ → 0.5.*--allow-changes' "${given[@]}" stop.steps=30 schedule.learning_rate=0.5
cmp plain/model.safetensors before.safetensors || wrong 'a finished model was changed'
cp -r plain longer
expect 0 'going on +from step 20' "$recipe" --out longer "${small[@]}" data.folder=copy stop.steps=27
expect 0 'Done after 27 steps' "$recipe" --out whole "${small[@]}" data.folder=copy stop.steps=27
cmp whole/checkpoints/extra-000000027/model.safetensors longer/checkpoints/extra-000000027/model.safetensors ||
  wrong 'a later end gives other weights than a run that had it from the start'
cp -r plain bare && rm -r bare/checkpoints
expect 1 'not the checkpoints it came from.*start_from=bare' "$recipe" --out bare "${small[@]}" data.folder=copy
cmp bare/model.safetensors before.safetensors || wrong 'a model without checkpoints was written over'

# ---- going on from a model
expect 0 'Done after 5 steps' "$recipe" --out tuned "${small[@]}" data.folder=copy start_from=plain stop.steps=5
cmp -s plain/model.safetensors tuned/model.safetensors && wrong 'fine-tuning changed nothing'
cmp plain/tokenizer.json tuned/tokenizer.json || wrong 'fine-tuning has another vocabulary'
expect 1 'shape.*32.*16|shape.*16.*32' "$recipe" --out other "${small[@]}" data.folder=copy start_from=plain \
  model.decoder_ffn_dim=48 model.encoder_ffn_dim=48 model.d_model=32
expect 1 'nowhere' "$recipe" --out other2 "${small[@]}" data.folder=copy start_from=nowhere
expect 1 'other files or settings' "$recipe" --out plain "${small[@]}" data.folder=copy tokenizer.vocab=12

# ---- the disk is full: the last good checkpoint stays, and with room the run goes on to the same model
mkdir small
if mount -t tmpfs -o size=700k tmpfs small 2>/dev/null; then
  mounted=yes
  full=("$recipe" --out small/run "${small[@]}" data.folder=copy stop.steps=100 checkpoint.keep=20)
  expect 1 'No space left|disk.*full|full' "${full[@]}"
  last=$(cat small/run/checkpoints/last 2>/dev/null)
  [[ -n $last && -s small/run/checkpoints/$last/manifest.json ]] || wrong "no checkpoint survived: $(ls small/run small/run/checkpoints)"
  ls small/run/checkpoints | grep partial >/dev/null && wrong 'half a checkpoint was left'
  mount -o remount,size=20m small
  expect 0 "going on +from step $((10#${last##*-}))" "${full[@]}"
  "$limpid" train "$recipe" --out roomy "${full[@]:3}" 2>/dev/null
  cmp small/run/model.safetensors roomy/model.safetensors || wrong 'the model differs after a full disk'
else
  echo 'no right to mount a small disk: the full disk is left out'
fi

all_as_expected
