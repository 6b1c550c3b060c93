// The formula of each part, as HTML. Letters as in "Attention Is All You Need".
import type { ModelInfo, Part, Stack } from '../client/types';
import { format } from './numbers';
import { belongsTo } from '../draw/map_layout';

const i = (text: string) => `<i>${text}</i>`;
const x = i('x');

// A radical of its own: the sign of fonts does not meet the line above what stands below it.
export const root = (under: string): string =>
  `<span class="root"><svg viewBox="0 0 10 20" preserveAspectRatio="none" aria-hidden="true"><path d="M0,13 3,11 6,19 10,0.7"/></svg><span>${under}</span></span>`;

const sub = (text: string, below: string) => `${i(text)}<sub>${below}</sub>`;
const transposed = '<sup>⊤</sup>';

// Scores as this model makes them of its queries and keys: their scale, its cap, what is added by distance. Cross-attention has neither
// rotations nor distances.
export function scoresFormula(model: ModelInfo, cross: boolean): string {
  const turned = model.positions === 'rotary' && !cross;
  const product = turned ? `${sub('Q', 'R')}${sub('K', 'R')}${transposed}` : `${i('QK')}${transposed}`;
  const byLayer = model.scale_by_layer ? ` · (${i('l')} + 1)` : '';
  const rooted = `${root(sub('d', i('k')))}${byLayer}`;
  const scaled = model.attention_scale ? `${format(model.attention_scale)} ${product}` : !model.scale_scores ? `${product}${byLayer && ` / (${i('l')} + 1)`}` : `${product} / ${byLayer ? `(${rooted})` : rooted}`;
  const capped = model.attention_cap ? `${format(model.attention_cap)} tanh(${scaled} / ${format(model.attention_cap)})` : scaled;
  return model.relative === 'none' || cross ? capped : `${capped} + ${i('B')}`;
}

// What one block does to the residual stream.
export function streamFormula(model: ModelInfo): string {
  const [attention, ffn] = ['attention', model.experts ? 'experts' : 'FFN'];
  const plus = model.residual === false ? '' : `${x} + `;
  if (model.parallel) return `${x} ← ${plus}${attention}(norm ${x}) + ${ffn}(norm${model.parallel_one_norm ? '' : '′'} ${x})`;
  const both = (change: (f: string) => string) => `${x} ← ${change(attention)},&ensp;${x} ← ${change(ffn)}`;
  switch (model.norm_place) {
    case 'after':
      return both((f) => `norm(${plus}${f}(${x}))`);
    case 'output':
      return both((f) => `${plus}norm ${f}(${x})`);
    case 'both':
      return both((f) => `${plus}norm′ ${f}(norm ${x})`);
    default:
      return both((f) => `${plus}${f}(norm ${x})`);
  }
}

// How positions act in a model, whether or not it adds vectors for them.
export function positionFormula(model: ModelInfo): string {
  const distance = model.relative === 'buckets' ? `score += ${i('b')}[bucket(${i('p')} − ${i('p')}′)]` : model.relative === 'slopes' ? `score −= ${sub('m', i('h'))} · (${i('p')} − ${i('p')}′)` : '';
  const own = model.positions === 'sinusoidal' ? `PE(${i('p')}, 2${i('i')}) = sin(${i('p')} / 10000<sup>2${i('i')}/${i('d')}</sup>), cos(…)`
    : model.positions === 'learned' ? `${x} ← ${x} + ${i('P')}[${i('position')}]`
    : model.positions === 'rotary' ? `${sub('q', 'R')} = ${i('R')}(${i('p')} · θ<sup>−2${i('i')}/${i('d')}</sup>) ${i('q')}` : '';
  return [own, distance].filter(Boolean).join(',&ensp;');
}

function feedForwardFormula(model: ModelInfo): string {
  if (model.experts) return `Σ<sub>${i('e')} ∈ top ${model.experts.chosen}</sub> ${sub('s', i('e'))} · ${sub('FFN', i('e'))}(${x})${model.experts.shared ? ' + shared FFN' : ''},&ensp;${i('s')} = softmax(${x}${sub('W', 'router')})`;
  const act = (inside: string) => (model.activation === 'none' ? `(${inside})` : `${name(model.activation)}(${inside})`);
  const biased = (text: string, which: number) => (model.ffn_bias ? `${text} + ${i('b')}<sub>${which}</sub>` : text);
  if (model.gated) return `(${act(`${x}${sub('W', 'gate')}`)} ⊙ ${x}${sub('W', 'up')}) ${sub('W', 'down')}`;
  return biased(`${act(biased(`${x}${sub('W', '1')}`, 1))} ${sub('W', '2')}`, 2);
}

export function formulaOf(part: Part | null, model: ModelInfo): string {
  switch (part?.kind) {
    case 'embedding':
      return model.scale_embedding ? `${x} = ${i('E')}[${i('token')}] · ${root(i('d'))}` : `${x} = ${i('E')}[${i('token')}]`;
    case 'position':
    case 'relative':
      return positionFormula(model);
    case 'self_attention':
    case 'cross_attention':
      return `softmax(${scoresFormula(model, part.kind === 'cross_attention')}${part.kind === 'self_attention' && stackOf(part, model)?.causal ? ' + mask' : ''}) ${i('V')} ${i('W')}<sup>${i('O')}</sup>`;
    case 'feed_forward':
      return feedForwardFormula(model);
    case 'norm':
      return model.norm === 'rms' ? `${x} / ${root(`mean(${x}²) + ε`)} ⊙ ${i('g')}` : `(${x} − μ) / ${root('σ² + ε')}${model.norm_bias ? ` ⊙ ${i('g')} + ${i('b')}` : ` ⊙ ${i('g')}`}`;
    case 'recurrent':
      return model.rnn?.cell === 'lstm'
        ? `${i('c')}<sub>${i('t')}</sub> = ${i('f')} ⊙ ${i('c')}<sub>${i('t')}−1</sub> + ${i('i')} ⊙ ${i('g')},  ${i('h')}<sub>${i('t')}</sub> = ${i('o')} ⊙ tanh ${i('c')}<sub>${i('t')}</sub>`
        : `${i('h')}<sub>${i('t')}</sub> = (1 − ${i('z')}) ⊙ ${i('n')} + ${i('z')} ⊙ ${i('h')}<sub>${i('t')}−1</sub>`;
    case 'alignment':
      return `softmax<sub>${i('j')}</sub>(${i('v')}<sup>⊤</sup> tanh(${i('W')}${i('s')} + ${i('U')}${i('h')}<sub>${i('j')}</sub>))`;
    case 'bridge':
      return `${i('s')}<sub>0</sub> = tanh(${i('W')} ${i('h')}<sub>1</sub>)`;
    case 'output':
      return `softmax(${x}${i('W')}<sub>out</sub>)`;
    default:
      return '';
  }
}

export const stackOf = (part: Part, model: ModelInfo): Stack | undefined => model.stacks.find((stack) => belongsTo(part, stack));

const name = (activation: string) => ({ relu: 'ReLU', gelu: 'GELU', gelu_tanh: 'GELU', quick_gelu: 'GELU', silu: 'SiLU', tanh: 'tanh' })[activation] ?? activation;

// The shapes that a part turns into each other, with this model's numbers.
export function shapeOf(part: Part, model: ModelInfo): string {
  const stack = stackOf(part, model);
  const d = model.width;
  switch (part.kind) {
    case 'embedding':
      return `${model.vocab} × ${part.shape?.[1] ?? d}`;
    case 'position':
      return `${model.max_positions} × ${d}`;
    case 'self_attention':
    case 'cross_attention':
      return stack ? `${d} → ${stack.heads} × ${stack.head_size} → ${d}` : '';
    case 'feed_forward':
      return model.experts ? `${model.experts.chosen}/${model.experts.count} × (${d} → ${model.experts.features} → ${d})` : `${d} → ${stack?.ffn ?? '?'} → ${d}`;
    case 'norm':
      return `${d}`;
    case 'recurrent':
      return `${model.rnn?.embed ?? d} → ${model.rnn?.hidden ?? d}`;
    case 'output':
      return `${d} → ${model.labels.length || model.vocab}`;
    default:
      return part.shape?.join(' × ') ?? '';
  }
}

// What the room of the text opens with: a text becomes numbers of a vocabulary.
export const textFormula = (model: ModelInfo | null): string =>
  `text → (${i('t')}<sub>1</sub>, …, ${i('t')}<sub>${i('n')}</sub>),  ${i('t')}<sub>${i('j')}</sub> ∈ {0, …, ${model ? model.vocab - 1 : `${i('V')} − 1`}}`;

// And that of the parameters: what a block of each stack costs, biases and norms aside.
export function parametersFormula(model: ModelInfo): string {
  if (model.rnn) return `${i('N')} ≈ ${model.rnn.cell === 'lstm' ? 4 : 3} · (${i('e')} + ${i('h')} + 1) · ${i('h')} + 2 · ${i('V')} · ${i('e')}`;
  const deepest = model.stacks[model.stacks.length - 1];
  const attention = deepest && deepest.attention.length > 1 ? 8 : 4;
  const ffn = `${model.experts ? `${model.experts.count} · ` : ''}${model.gated ? 3 : 2} · ${i('d')} · ${i('d')}<sub>ff</sub>`;
  const kv = deepest && deepest.kv_heads && deepest.kv_heads < deepest.heads ? ` (1 + ${i('h')}<sub>kv</sub>/${i('h')}) / 2` : '';
  return `${i('N')} ≈ ${model.stacks.length > 1 ? `${i('L')}<sub>enc</sub> · (4 · ${i('d')}² + ${ffn}) + ${i('L')}<sub>dec</sub>` : i('L')} · (${attention} · ${i('d')}²${kv} + ${ffn}) + ${i('V')} · ${i('d')}`;
}
