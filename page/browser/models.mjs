// The four models that the tests walk through, made by the program itself in some seconds: a translator, a language model, a
// GRU with attention, an encoder. And a server around them.
import { execFile, spawn } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

export const limpid = (program) => async (...words) => (await run(program, words, { maxBuffer: 1 << 28 })).stdout;

const recipes = {
  translator: `[data]
folder = "pairs"
train = ["train.en", "train.ko"]
valid = ["valid.en", "valid.ko"]
[tokenizer]
kind = "unigram"
vocab = 900
[model]
model_type = "marian"
d_model = 32
encoder_layers = 2
decoder_layers = 2
encoder_attention_heads = 4
decoder_attention_heads = 4
encoder_ffn_dim = 64
decoder_ffn_dim = 64
activation_function = "relu"
scale_embedding = true
max_position_embeddings = 128
dropout = 0.0
[schedule]
kind = "constant"
learning_rate = 0.005
[batch]
tokens = 512
[stop]
steps = 120
[validation]
steps = 40
translate = 3
[checkpoint]
steps = 120
`,
  lm: `[data]
folder = "facts"
train = ["train.txt"]
valid = ["known.txt"]
[tokenizer]
kind = "words"
[model]
model_type = "gpt2"
n_layer = 2
n_head = 4
n_embd = 32
n_inner = 64
n_positions = 32
embd_pdrop = 0.0
attn_pdrop = 0.0
resid_pdrop = 0.0
activation_function = "relu"
[schedule]
kind = "constant"
learning_rate = 0.005
[batch]
tokens = 512
[stop]
steps = 120
[validation]
steps = 60
[checkpoint]
steps = 120
`,
};
recipes.gru = recipes.translator.replace(/\[model\][^[]*/, `[model]
model_type = "rnn_seq2seq"
cell = "gru"
layers = 1
embed_dim = 32
hidden_size = 48
bidirectional = true
attention = "additive"
`);
recipes.encoder = recipes.lm.replace(/\[model\][^[]*/, `[model]
model_type = "bert"
num_hidden_layers = 2
num_attention_heads = 4
hidden_size = 32
intermediate_size = 64
max_position_embeddings = 32
hidden_dropout_prob = 0.0
attention_probs_dropout_prob = 0.0
`);

// Families that differ in what a room must say, as small random models: name -> config.
const small = { vocab_size: 300, hidden_size: 32, intermediate_size: 48, num_hidden_layers: 2, num_attention_heads: 4, num_key_value_heads: 4, max_position_embeddings: 64, bos_token_id: 1, eos_token_id: 2 };
export const kinds = {
  mixtral: { ...small, model_type: 'mixtral', num_key_value_heads: 2, num_local_experts: 4, num_experts_per_tok: 2 },
  t5: { model_type: 't5', vocab_size: 300, d_model: 32, d_kv: 8, d_ff: 48, num_layers: 2, num_heads: 4, relative_attention_num_buckets: 8, relative_attention_max_distance: 16 },
  bloom: { model_type: 'bloom', vocab_size: 300, hidden_size: 32, n_layer: 2, n_head: 4, bos_token_id: 1, eos_token_id: 2 },
  gpt_neox: { ...small, model_type: 'gpt_neox', rotary_pct: 0.5 },
  gemma2: { ...small, model_type: 'gemma2', head_dim: 8, attn_logit_softcapping: 2, final_logit_softcapping: 3, query_pre_attn_scalar: 5, sliding_window: 8 },
  olmo2: { ...small, model_type: 'olmo2' },
};
export async function makeKinds(program, folder) {
  const say = limpid(program);
  const models = {};
  for (const [name, config] of Object.entries(kinds)) {
    models[name] = join(folder, name);
    writeFileSync(join(folder, `${name}.json`), JSON.stringify(config));
    if (!existsSync(join(models[name], 'model.safetensors'))) await say('random', join(folder, `${name}.json`), models[name]);
  }
  return models;
}

// Trains what `names` says below `folder`, unless it is there from an earlier time; returns name -> folder of the model.
export async function makeModels(program, folder, names = Object.keys(recipes)) {
  const say = limpid(program);
  if (!existsSync(join(folder, 'pairs'))) await say('data', 'english-korean', '--out', join(folder, 'pairs'), '--count', '1500');
  if (!existsSync(join(folder, 'facts'))) await say('data', 'facts', '--out', join(folder, 'facts'));
  const models = {};
  for (const name of names) {
    const recipe = join(folder, `${name}.toml`);
    writeFileSync(recipe, recipes[name].replaceAll(/folder = "(\w+)"/g, (_, data) => `folder = ${JSON.stringify(join(folder, data))}`));
    models[name] = join(folder, name);
    if (!existsSync(join(models[name], 'model.safetensors'))) await say('train', recipe, '--out', models[name]);
  }
  return models;
}

// A server on a free port; resolves with its address and a way to stop it.
export function serve(program, models, options = []) {
  return new Promise((resolve, reject) => {
    const child = spawn(program, ['serve', ...models, '--port', '0', ...options], { stdio: ['ignore', 'pipe', 'pipe'] });
    let said = '';
    const listen = (part) => {
      said += part;
      const address = /http:\/\/[\d.]+:\d+/.exec(said)?.[0];
      if (!address || child.address) return;
      child.address = address;
      void waitReady(address).then(() => resolve({ address, stop: () => new Promise((done) => { child.on('exit', done); child.kill('SIGTERM'); }), pid: child.pid }), reject);
    };
    child.stdout.on('data', listen);
    child.stderr.on('data', listen);
    child.on('exit', (code) => reject(new Error(`limpid serve ended with ${code}: ${said}`)));
  });
}

async function waitReady(address) {
  for (let i = 0; i < 200; i++) {
    const response = await fetch(`${address}/health`).catch(() => null);
    if (response?.ok) return;
    await new Promise((done) => setTimeout(done, 50));
  }
  throw new Error(`${address} does not become ready`);
}
