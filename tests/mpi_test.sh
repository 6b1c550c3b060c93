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
long=("$limpid" train "$1/recipes/copy.toml" "${common[@]}" "${settings[@]}" stop.steps=100000 validation.steps=100
  checkpoint.steps=5) # to be ended by what happens to it

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

# A rank that neither computes nor waits: what it reads never comes. Meanwhile the others are tested.
mkdir -p gone/copy
cp copy/* gone/copy
rm gone/copy/train.src
mkfifo gone/copy/train.src
ranks 1 "${long[@]}" --out stuck --rank-timeout 3 : -n 1 "${long[@]}" data.folder=gone/copy --out stuck --rank-timeout 3 >stuck.said 2>&1 &
stuck=$!

begin 3
kill -9 "$(rank_process 1 parts)"
ended 10 'rank 1'
begin 2
kill -9 "$(rank_process 0 parts)"
ended 10 'rank 0'
for victim in 1 0; do
  begin 2
  stopped=$(rank_process $victim parts)
  kill -STOP "$stopped"
  ended 15 "rank $victim .*has not been heard of"
  kill -9 "$stopped" 2>/dev/null
done

# All at once suspended for longer than a rank may be silent, and woken up again.
begin 2
both=("$(rank_process 0 parts)" "$(rank_process 1 parts)")
kill -STOP "${both[@]}"
sleep 7
kill -CONT "${both[@]}"
sleep 1
kill -0 $job 2>/dev/null && ! grep -q 'been heard of' said || wrong "a run that was suspended as a whole: $(tail -3 said)"
kill -9 "${both[1]}"
ended 10 'rank 1'

wait $stuck && wrong 'a rank that read nothing for ever ended well'
grep -q 'rank 1 .*has been stuck for 3[0-9] s' stuck.said || wrong "a rank that reads nothing for ever: $(tail -5 stuck.said)"
last=$(sed 's/.*-0*//' parts/checkpoints/last)
more=(stop.steps=$((last + 20)))
ranks 4 "${long[@]}" "${more[@]}" --out parts >said 2>&1 || wrong "going on with four ranks: $(tail -5 said)"
"${long[@]}" "${more[@]}" --out alone 2>log || wrong "the run left alone: $(tail -3 log)"
cmp alone/model.safetensors parts/model.safetensors || wrong 'another model after lost ranks'

# ---- ranks that do not fit
short=("$limpid" train "$1/recipes/copy.toml" "${common[@]}" "${settings[@]}" --out other)
ranks 5 "${short[@]}" >said 2>&1 && wrong 'five ranks for four shards were let in'
(($(grep -c 'batch.shards is 4' said) == 1)) || wrong "five ranks for four shards, once: $(cat said)"
[[ ! -e other/data ]] || wrong 'data were prepared for five ranks and four shards'
ranks 2 "$limpid" train no-such-recipe --out other >said 2>&1 && wrong 'a recipe that is not there was trained'
(($(grep -c no-such-recipe said) == 1)) || wrong "a recipe that is not there, once: $(cat said)"
OMPI_COMM_WORLD_SIZE=2 OMPI_COMM_WORLD_RANK=1 "$limpid" recipes 2>said >/dev/full && wrong 'a full disk was no error'
grep -q '^limpid: rank 1: the output could not be written' said || wrong "a rank whose output is lost: $(cat said)"
mkdir other-module
cp "$limpid" other-module
hash=$(grep -aoE '[0-9a-f]{16}' "$2/limpid_mpi.so" | head -1)
LC_ALL=C sed "s/$hash/0123456789abcdef/" "$2/limpid_mpi.so" >other-module/limpid_mpi.so
ranks 2 "$work/other-module/limpid" bench allreduce --mb 1 >said 2>&1 && wrong 'a module made from other sources was loaded'
grep -q 'limpid_mpi.so was made from other sources' said || wrong "a module from other sources: $(tail -3 said)"
ranks 1 "${short[@]}" seed=1 : -n 1 "${short[@]}" seed=2 >said 2>&1 && wrong 'two recipes in one run were let in'
grep -q 'rank 1 .*seed is 2 instead of 1' said || wrong "two recipes: $(tail -3 said)"
mkdir elsewhere
cp -r copy elsewhere/copy
sed -i '1s/$/ a/' elsewhere/copy/train.src
ranks 1 "${short[@]}" : -n 1 "${short[@]}" data.folder=elsewhere/copy >said 2>&1 && wrong 'two corpora in one run were let in'
grep -q 'rank 1 .*contents of train.src' said || wrong "two corpora: $(tail -3 said)"

# ---- text of one's own: as many shards as ranks
ranks 2 "$limpid" train --labels labels.tsv --minutes 0.05 --out own >said 2>&1 || wrong "text of one's own: $(tail -5 said)"
grep -q 'shards = 2' own/recipe.toml && grep -q 'for 2 ranks' said || wrong "text of one's own is not cut for two ranks: $(tail -5 said)"

# ---- what ranks and networks cost
"$limpid" plan "$1/recipes/copy.toml" data.folder=copy batch.shards=4 --ranks 6 --network 1Gbit,50us --seconds 0.5 >said 2>&1 ||
  wrong "plan: $(tail -3 said)"
grep -Eq '^ +1024 +1024' said && grep -q '6 ranks need batch.shards=6' said && grep -q 'The same batch .* do not make an update shorter' said &&
  grep -q 'A batch that grows' said && grep -q '^shards  *4, of about' said || wrong "plan says: $(cat said)"
"$limpid" plan "$1/recipes/copy.toml" data.folder=copy --ranks 2 --network fast >said 2>&1 && wrong 'a network "fast" was taken'
grep -q '10Gbit,50us' said || wrong "a network \"fast\": $(cat said)"
ranks 2 "$limpid" bench allreduce --mb 1 --rounds 1 >said 2>&1 && grep -q '"network":"[0-9.]*Gbit,[0-9.]*us"' said ||
  wrong "bench allreduce: $(cat said)"
"$limpid" bench allreduce >said 2>&1 && wrong 'allreduce with one rank measured something'
ranks 2 "$limpid" bench data-parallel --steps 1 >said 2>&1 && grep -q '"ranks":2' said || wrong "bench data-parallel: $(cat said)"

all_as_expected
