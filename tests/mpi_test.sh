#!/usr/bin/env bash
# Training under mpirun: any number of ranks gives the model that one gives, bit for bit, in every family; a rank that dies or
# hangs ends the run and is named; another number of ranks goes on from there; ranks that do not fit together are told so.
# Usage: mpi_test.sh SOURCE_FOLDER BUILD_FOLDER
source "$1/tests/script.sh"
source "$1/tests/ranks.sh"
need_mpi "$2"

"$limpid" data copy --out copy --count 400 >/dev/null || exit 1
cat copy/train.src >text
head -n 40 copy/valid.src >valid.text
awk '{ print (NF % 2 ? "odd" : "even") "\t" $0 }' copy/train.src >labels.tsv

# What makes an update: several batches, clipping, decay, and in every family weights that are frozen; and what else is kept: a moving
# average.
common=(batch.shards=4 batch.accumulate=2 optimizer.clip_norm=0.5 optimizer.weight_decay=0.01 optimizer.kind=adamw checkpoint.ema=0.9
  stop.steps=6 checkpoint.steps=3 validation.steps=3 batch.tokens=128 batch.sequences=0)
text=(data.folder= data.train=text data.valid=valid.text data.unit=lines tokenizer.kind=words)
pairs=(data.folder=copy 'data.train=["train.src","train.tgt"]' 'data.valid=["valid.src","valid.tgt"]' tokenizer.kind=words
  validation.translate=8)
declare -A families=(
  [copy]="${pairs[*]} model.d_model=128 model.encoder_ffn_dim=256 validation.metric=bleu optimizer.freeze=model.encoder.*"
  [gpt]="${text[*]} model.n_embd=128 model.n_layer=2 optimizer.freeze=h.0.*"
  [llama]="${text[*]} model.hidden_size=128 model.intermediate_size=256 model.num_hidden_layers=2 model.num_attention_heads=4 model.num_key_value_heads=4 optimizer.freeze=model.layers.0.*"
  [bert]="${text[*]} model.hidden_size=128 model.num_hidden_layers=2 model.num_attention_heads=4 optimizer.freeze=*encoder.layer.0.*"
  [classify]="data.train=labels.tsv data.valid=labels.tsv tokenizer.kind=words optimizer.freeze=*encoder.layer.0.*"
  [rnn]="${pairs[*]} model.embed_dim=128 model.hidden_size=128 model.layers=1 optimizer.freeze=encoder.*"
)

# same A B: whether two runs have left the same weights, moments and averages.
same() {
  cmp -s "$1/model.safetensors" "$2/model.safetensors" || { wrong "$2: another model than $1's"; return; }
  local file
  for file in model optimizer average; do
    cmp -s "$1"/checkpoints/step-000000006/$file.safetensors "$2"/checkpoints/step-000000006/$file.safetensors ||
      wrong "$2: $file of the last checkpoint differs from $1's"
  done
}

# ---- the same bits with 1, 2, 3 and 4 ranks
for recipe in "${!families[@]}"; do
  read -r -a settings <<<"${families[$recipe]}"
  train=("$limpid" train "$1/recipes/$recipe.toml" "${common[@]}" "${settings[@]}")
  "${train[@]}" --out "$recipe-1" 2>log || { wrong "$recipe on one rank: $(tail -3 log)"; continue; }
  for n in 2 3 4; do
    ranks "$n" "${train[@]}" --out "$recipe-$n" >said 2>&1 || { wrong "$recipe on $n ranks: $(tail -5 said)"; continue; }
    same "$recipe-1" "$recipe-$n"
  done
done
[[ $("$limpid" translate copy-3 <<<'a b c' 2>&1 | wc -l) == 1 ]] || wrong 'a model of three ranks does not open'

# ---- a rank that dies or hangs; another number of ranks goes on
read -r -a settings <<<"${families[copy]}"
long=("$limpid" train "$1/recipes/copy.toml" "${common[@]}" "${settings[@]}" stop.steps=60 validation.steps=20 checkpoint.steps=5)
"${long[@]}" --out alone 2>log || wrong "the run left alone: $(tail -3 log)"

# begin N: a run of N ranks in the background, until it has another checkpoint.
begin() {
  local before
  before=$(cat parts/checkpoints/last 2>/dev/null)
  ranks "$1" "${long[@]}" --out parts --rank-timeout 4 >said 2>&1 &
  job=$!
  for _ in {1..300}; do
    [[ $(cat parts/checkpoints/last 2>/dev/null) == "$before" ]] || return
    kill -0 $job 2>/dev/null || return
    sleep 0.1
  done
}

# ended SECONDS WORDS: within so long the run ends, and names the rank.
ended() {
  local started=$SECONDS
  for ((i = 0; i < 10 * $1; ++i)); do kill -0 $job 2>/dev/null || break; sleep 0.1; done
  kill -0 $job 2>/dev/null && { wrong "still there after $1 s"; kill -9 $job; }
  wait $job && wrong 'a run that lost a rank ended well'
  grep -Eq "$2" said || wrong "after $((SECONDS - started)) s nothing about /$2/: $(tail -5 said)"
}

begin 3
kill -9 "$(rank_process 1 parts)"
ended 10 'rank 1'
begin 2
kill -STOP "$(rank_process 1 parts)"
stopped=$(rank_process 1 parts)
ended 15 'rank 1 .*has not been heard of'
kill -9 "$stopped" 2>/dev/null
ranks 4 "${long[@]}" --out parts >said 2>&1 || wrong "going on with four ranks: $(tail -5 said)"
cmp alone/model.safetensors parts/model.safetensors || wrong 'another model after two lost ranks'

# ---- ranks that do not fit
short=("$limpid" train "$1/recipes/copy.toml" "${common[@]}" "${settings[@]}" --out other)
ranks 5 "${short[@]}" >said 2>&1 && wrong 'five ranks for four shards were let in'
grep -q 'batch.shards is 4' said || wrong "five ranks for four shards: $(tail -3 said)"
ranks 1 "${short[@]}" seed=1 : -n 1 "${short[@]}" seed=2 >said 2>&1 && wrong 'two recipes in one run were let in'
grep -q 'rank 1 .*seed is 2 instead of 1' said || wrong "two recipes: $(tail -3 said)"
mkdir elsewhere
cp -r copy elsewhere/copy
sed -i '1s/$/ a/' elsewhere/copy/train.src
ranks 1 "${short[@]}" : -n 1 "${short[@]}" data.folder=elsewhere/copy >said 2>&1 && wrong 'two corpora in one run were let in'
grep -q 'rank 1 .*contents of train.src' said || wrong "two corpora: $(tail -3 said)"

# ---- what ranks and networks cost
"$limpid" plan "$1/recipes/copy.toml" data.folder=copy batch.shards=4 --ranks 6 --network 1Gbit,50us --seconds 0.5 >said 2>&1 ||
  wrong "plan: $(tail -3 said)"
grep -Eq '^ +1024 +1024' said && grep -q '6 ranks need batch.shards=6' said && grep -q 'do not make an update shorter' said ||
  wrong "plan says: $(cat said)"
"$limpid" plan "$1/recipes/copy.toml" data.folder=copy --ranks 2 --network fast >said 2>&1 && wrong 'a network "fast" was taken'
grep -q '10Gbit,50us' said || wrong "a network \"fast\": $(cat said)"
ranks 2 "$limpid" bench allreduce --mb 1 --rounds 1 >said 2>&1 && grep -q '"network":"[0-9.]*Gbit,[0-9.]*us"' said ||
  wrong "bench allreduce: $(cat said)"
"$limpid" bench allreduce >said 2>&1 && wrong 'allreduce with one rank measured something'
ranks 2 "$limpid" bench data-parallel --steps 1 >said 2>&1 && grep -q '"ranks":2' said || wrong "bench data-parallel: $(cat said)"

all_as_expected
