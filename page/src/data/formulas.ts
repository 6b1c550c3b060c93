// The formula of each part, as HTML. Letters as in "Attention Is All You Need".
import type { ModelInfo, Part, Stack } from '../client/types';
import { belongsTo } from '../draw/map_layout';

const i = (text: string) => `<i>${text}</i>`;
const x = i('x');

// A radical of its own: the sign of fonts does not meet the line above what stands below it.
export const root = (under: string): string =>
  `<span class="root"><svg viewBox="0 0 10 20" preserveAspectRatio="none" aria-hidden="true"><path d="M0,13 3,11 6,19 10,0.7"/></svg><span>${under}</span></span>`;

export function formulaOf(part: Part | null, model: ModelInfo): string {
  const rootOfSize = root(`${i('d')}<sub>${i('k')}</sub>`);
  switch (part?.kind) {
    case 'embedding':
      return model.scale_embedding ? `${x} = ${i('E')}[${i('token')}] · ${root(i('d'))}` : `${x} = ${i('E')}[${i('token')}]`;
    case 'position':
      return model.positions === 'sinusoidal' ? `PE(${i('p')}, 2${i('i')}) = sin(${i('p')} / 10000<sup>2${i('i')}/${i('d')}</sup>), cos(…)` : `${x} ← ${x} + ${i('P')}[${i('position')}]`;
    case 'self_attention':
    case 'cross_attention':
      return `softmax(${i('QK')}<sup>⊤</sup>${model.scale_scores ? ` / ${rootOfSize}` : ''}${part.kind === 'self_attention' && stackOf(part, model)?.causal ? ' + mask' : ''}) ${i('V')} ${i('W')}<sup>${i('O')}</sup>`;
    case 'feed_forward':
      return model.gated
        ? `(${name(model.activation)}(${x}${i('W')}<sub>gate</sub>) ⊙ ${x}${i('W')}<sub>up</sub>) ${i('W')}<sub>down</sub>`
        : `${name(model.activation)}(${x}${i('W')}<sub>1</sub> + ${i('b')}<sub>1</sub>) ${i('W')}<sub>2</sub> + ${i('b')}<sub>2</sub>`;
    case 'norm':
      return model.norm === 'rms' ? `${x} / ${root(`mean(${x}²) + ε`)} ⊙ ${i('g')}` : `(${x} − μ) / ${root('σ² + ε')} ⊙ ${i('g')} + ${i('b')}`;
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

const name = (activation: string) => ({ relu: 'ReLU', gelu: 'GELU', silu: 'SiLU', tanh: 'tanh' })[activation] ?? activation;

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
      return `${d} → ${stack?.ffn ?? '?'} → ${d}`;
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
  const ffn = `${model.gated ? 3 : 2} · ${i('d')} · ${i('d')}<sub>ff</sub>`;
  const kv = deepest && deepest.kv_heads && deepest.kv_heads < deepest.heads ? ` (1 + ${i('h')}<sub>kv</sub>/${i('h')}) / 2` : '';
  return `${i('N')} ≈ ${model.stacks.length > 1 ? `${i('L')}<sub>enc</sub> · (4 · ${i('d')}² + ${ffn}) + ${i('L')}<sub>dec</sub>` : i('L')} · (${attention} · ${i('d')}²${kv} + ${ffn}) + ${i('V')} · ${i('d')}`;
}
