// Small arithmetic that the rooms share, and numbers as people read them.
import type { Numbers } from '../client/safetensors';

export function softmax(logits: ArrayLike<number>, temperature = 1): Float64Array {
  let most = -Infinity;
  for (let i = 0; i < logits.length; i++) if (logits[i] > most) most = logits[i];
  const result = new Float64Array(logits.length);
  let sum = 0;
  for (let i = 0; i < logits.length; i++) sum += result[i] = Math.exp((logits[i] - most) / temperature);
  for (let i = 0; i < result.length; i++) result[i] /= sum;
  return result;
}

export function entropyBits(probabilities: ArrayLike<number>): number {
  let sum = 0;
  for (let i = 0; i < probabilities.length; i++) {
    const p = probabilities[i];
    if (p > 0) sum -= p * Math.log2(p);
  }
  return sum;
}

export function dot(a: ArrayLike<number>, b: ArrayLike<number>): number {
  let sum = 0;
  for (let i = 0; i < a.length; i++) sum += a[i] * b[i];
  return sum;
}

export const norm = (a: ArrayLike<number>): number => Math.sqrt(dot(a, a));

export function indexOfLargest(values: ArrayLike<number>): number {
  let best = 0;
  for (let i = 1; i < values.length; i++) if (values[i] > values[best]) best = i;
  return best;
}

// The indices of the largest values by `weight`, largest first.
export function topIndices(values: ArrayLike<number>, count: number, weight = (x: number) => x): number[] {
  const all = Array.from({ length: values.length }, (_, i) => i);
  return all.sort((a, b) => weight(values[b]) - weight(values[a]) || a - b).slice(0, count);
}

export interface Histogram {
  from: number;
  to: number;
  counts: number[];
}

export function histogram(values: Numbers, bins: number): Histogram {
  let from = Infinity;
  let to = -Infinity;
  for (const x of values) {
    if (x < from) from = x;
    if (x > to) to = x;
  }
  const counts = new Array<number>(bins).fill(0);
  if (!(to > from)) return { from, to, counts: counts.fill(values.length, 0, 1) };
  for (const x of values) counts[Math.min(bins - 1, Math.floor(((x - from) / (to - from)) * bins))]++;
  return { from, to, counts };
}

// A number in a figure: three significant digits, a real minus sign.
export function format(value: number | null | undefined, digits = 3): string {
  if (value === null || value === undefined || Number.isNaN(value)) return '–';
  if (value === Infinity) return '∞';
  if (value === -Infinity) return '−∞';
  const size = Math.abs(value);
  let text: string;
  if (size === 0) text = '0';
  else if (size >= 1e6 || size < 1e-3) text = size.toExponential(digits - 1).replace('e+', 'e').replace('e-', 'e−');
  else if (size >= 10 ** digits) text = Math.round(size).toString();
  else text = size.toPrecision(digits);
  return value < 0 ? '−' + text : text;
}

export function percent(value: number): string {
  const x = 100 * value;
  if (x > 0 && x < 0.05) return '<\u00a00.1\u00a0%';
  if (x >= 99.95 && x < 100) return '>\u00a099.9\u00a0%';
  return `${x >= 99.95 || x === 0 ? Math.round(x) : x.toFixed(1)}\u00a0%`;
}

// A piece of the vocabulary as the strip of tokens shows it: the space that it begins with is a middle dot.
export const readable = (piece: string): string => piece.replace(/[▁Ġ]/g, '·');

export const count = (value: number, language: string): string => new Intl.NumberFormat(language).format(value);
