// The next token's distribution under temperature, top-k, top-p and min-p, in the order in which `limpid complete` applies
// them. What is cut away has probability 0 and the rest adds up to one again.
import { softmax } from './numbers';

export interface Sampling {
  temperature: number; // 0: the likeliest token alone
  topK: number; // 0: all
  topP: number; // 1: all
  minP: number; // 0: all
}

export const plainSampling: Sampling = { temperature: 1, topK: 0, topP: 1, minP: 0 };

export interface Choice {
  index: number; // into the logits
  raw: number; // probability as the model says it
  probability: number; // after all controls
}

interface Ranking {
  raw: Float64Array; // probabilities as the model says them
  order: Uint32Array; // indices, likeliest first
  rank: Uint32Array; // of each index in it
}
// Sorting a whole vocabulary takes longer than a frame; no control changes the order, so it is done once per row of logits.
const rankings = new WeakMap<object, Ranking>();

export function ranking(logits: ArrayLike<number>): Ranking {
  const kept = rankings.get(logits);
  if (kept) return kept;
  const raw = softmax(logits);
  const order = Uint32Array.from({ length: raw.length }, (_, i) => i).sort((a, b) => raw[b] - raw[a] || a - b);
  const rank = new Uint32Array(raw.length);
  order.forEach((index, i) => (rank[index] = i));
  const made = { raw, order, rank };
  rankings.set(logits, made);
  return made;
}

// The `wanted` likeliest tokens, most likely first, then those that are asked for besides; and how many can be drawn at all.
export function distribution(logits: ArrayLike<number>, s: Sampling, wanted: number, besides: readonly number[] = []): { choices: Choice[]; kept: number } {
  const { raw, order, rank } = ranking(logits);
  const listed = [...order.subarray(0, wanted), ...besides];
  if (s.temperature <= 0) return { choices: listed.map((index) => ({ index, raw: raw[index], probability: rank[index] === 0 ? 1 : 0 })), kept: 1 };
  const heated = s.temperature === 1 ? raw : softmax(logits, s.temperature);
  let kept = s.topK > 0 ? Math.min(s.topK, order.length) : order.length;
  const sumOf = (n: number) => {
    let sum = 0;
    for (let i = 0; i < n; i++) sum += heated[order[i]];
    return sum;
  };
  if (s.topP < 1) {
    const whole = sumOf(kept);
    let sum = 0;
    let n = 0;
    while (n < kept && sum < s.topP * whole) sum += heated[order[n++]];
    kept = Math.max(1, n);
  }
  if (s.minP > 0) {
    const least = s.minP * heated[order[0]];
    let n = 0;
    while (n < kept && heated[order[n]] >= least) n++;
    kept = Math.max(1, n);
  }
  const whole = sumOf(kept);
  return { choices: listed.map((index) => ({ index, raw: raw[index], probability: rank[index] < kept ? heated[index] / whole : 0 })), kept };
}
