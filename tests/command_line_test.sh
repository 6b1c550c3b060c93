#!/usr/bin/env bash
# The program meets wrong usage and broken files: a clear line on stderr, nothing on stdout, the right exit code.
# Usage: command_line_test.sh SOURCE_FOLDER BUILD_FOLDER
source "$1/tests/script.sh"

# expect CODE PATTERN ARGUMENTS…: the exit code, and what the message (or, with code 0, the output) must match.
expect() {
  local code=$1 pattern=$2 got text
  shift 2
  "$limpid" "$@" >out 2>err </dev/null
  got=$?
  if ((code == 0)); then text=$(cat out); else text=$(cat err); fi
  if ((got != code)) || ! grep -Eq -- "$pattern" <<<"$text"; then
    printf 'FAILED: limpid %s\n  exit code %s instead of %s, or no match of %s in:\n%s\n' "$*" "$got" "$code" "$pattern" "$text"
    failures=$((failures + 1))
  fi
}

expect 0 'Usage: .*limpid COMMAND' --help
expect 0 'Usage: .*limpid COMMAND' help
expect 0 '^limpid [0-9.]+ .*(release|debug) build' --version
expect 0 '^kernels: .*oneDNN' --version
expect 2 'no command "verfy"; did you mean verify\?' verfy
expect 2 'no command "qqq"\. .*--help' qqq
for command in demo data plan train evaluate translate verify params bench; do
  expect 0 '^Examples?$' "$command" --help
  expect 0 "^Usage: .*limpid $command" help "$command"
  expect 2 "See .*limpid $command --help" "$command" --no-such-option
  "$limpid" "$command" --help | grep -E 'INT in|FLOAT in|:\{|TEXT:|[0-9]{12}' && { echo "FAILED: raw types in the help of $command"; failures=$((failures + 1)); }
done
expect 0 'Usage: .*look MODEL heatmap' help look heatmap
expect 0 'Usage: .*sae train' help sae train
expect 2 'required' verify
expect 2 'required' params
expect 2 'shape' bench train-step --shape enormous
expect 2 'threads' demo --threads -3
expect 0 '^limpid [0-9.]+ ' -V
expect 2 'no command "trian".*train' help trian
expect 2 'steps.* 0 .*1 to 100000000' demo --steps 0
expect 2 'did you mean --steps' demo --step 5
expect 2 'did you mean --shape' bench train-step --shpae tiny

# Old names of options go on working and say the new ones. (The model is missing: the option is accepted before that.)
renamed() { # renamed OLD NEW ARGUMENTS…
  local old=$1 new=$2 command=$3
  shift 2
  "$limpid" "$@" >out 2>err </dev/null
  if ! grep -qF -- "limpid $command: $old is now called $new" err || grep -qE 'not expected|See .*--help' err; then
    printf 'FAILED: limpid %s: %s is not taken for %s:\n%s\n' "$*" "$old" "$new" "$(cat err)"
    failures=$((failures + 1))
  fi
}
renamed --max-length --max-tokens translate nowhere --max-length 5
renamed --max-length --max-tokens translate nowhere --max-length=5
renamed --sample --samples=1 translate nowhere --sample --n-best 3
renamed --texts-at-once --batch-size translate nowhere --texts-at-once 2
renamed --file --text complete nowhere --file prompts.txt
renamed --log-probabilities --logprobs complete nowhere --log-probabilities 2
renamed --file --text look nowhere capture --file lines.txt --tap '*' --dry-run
renamed --batch --batch-size bench translate nowhere --batch 4
renamed --batch --batch-size bench embed nowhere --batch 4
renamed --batch --batch-size sae train nowhere --tap x --out y --text z --batch 4
renamed --draws --resamples evaluate --hypothesis nowhere --reference nowhere --draws 10
"$limpid" translate nowhere --max-tokens 5 >out 2>err </dev/null
if grep -q 'now called' err; then echo 'FAILED: a new name is called old'; failures=$((failures + 1)); fi
expect 1 'changes.toml' look nowhere intervene text --file changes.toml # another thing, which keeps its name
if grep -q 'now called' err; then echo 'FAILED: the file of interventions is taken for a text'; failures=$((failures + 1)); fi
# Every command that reads texts takes --text, every one that writes takes --out; some take them without a name too.
for command in translate score embed classify complete; do expect 0 '--text' "$command" --help; done
for command in export quantize random train; do expect 0 '--out' "$command" --help; done
expect 1 'nowhere' export nowhere --out somewhere.gguf
expect 1 'nowhere' translate nowhere --text lines.txt

expect 1 'nowhere' verify nowhere
expect 1 'nowhere.json' params nowhere.json
printf '{"model_type": "gpt2", ' >broken.json
expect 1 'broken.json.*(line|:1:)' params broken.json
printf '{"model_type": "gpt5", "vocab_size": 5}' >unknown.json
expect 1 'gpt5.*gpt2' params unknown.json
printf '{"model_type": "gpt2", "vocab_size": 9, "n_embd": 10, "n_layer": 1, "n_head": 3, "n_positions": 8}' >heads.json
expect 1 'n_head 3.*n_embd 10' params heads.json

# A case whose weights were cut off, one without a batch, one with a wrong expectation.
golden=$1/tests/golden/gpt2
cp -r "$golden" truncated && truncate -s -100 truncated/model.safetensors
expect 1 'model.safetensors.*(truncated|download)' verify truncated
cp -r "$golden" lost && rm lost/batch.json
expect 1 'batch.json' verify lost
cp -r "$golden" other && cp "$1/tests/golden/gpt2-untied/expected.safetensors" other
expect 1 '.' verify other
"$limpid" verify truncated "$golden" >out 2>/dev/null
grep -q '1 of 2 passed' out || { echo 'FAILED: a broken case hides a good one'; failures=$((failures + 1)); }

# What cannot be written is said, and leaves nothing behind.
touch occupied
expect 1 'occupied/model: cannot be used' demo --quiet --steps 100000 --out occupied/model

# Before anything is computed.
expect 1 'there is no folder nowhere' induction --svg nowhere/heads.svg
expect 1 'there is no folder nowhere' superposition --csv nowhere/models.csv
expect 1 'there is no folder nowhere' sae view sae model --text lines.txt --html nowhere/features.html
expect 1 'there is no folder nowhere' evaluate model --out nowhere/translations.txt
expect 1 'there is no folder nowhere' log run --svg nowhere/run.svg
expect 1 'occupied/heads.svg: there is no folder' look model heads --text lines.txt --svg occupied/heads.svg

all_as_expected
