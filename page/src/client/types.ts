// What the server answers: docs/serving.md has the routes.

export interface Stack {
  name: string;
  scope: string; // "blocks", "encoder", "decoder"
  side: string; // '' where there is one stack
  layers: number;
  heads: number;
  kv_heads: number;
  head_size: number;
  ffn: number;
  causal: boolean;
  attention: string[];
}

export interface Part {
  id: string;
  kind: string;
  stack: string;
  layer: number | null;
  parameters: number;
  shape?: number[];
  weights: string[];
  taps: string[];
  tied_to?: string;
}

export interface ModelInfo {
  id: string;
  family: 'language_model' | 'encoder_decoder' | 'encoder' | 'recurrent';
  model_type: string;
  parameters: number;
  vocab: number;
  width: number;
  head_size: number;
  max_positions: number;
  two_sided: boolean;
  writes: boolean;
  labels: string[];
  norm: string;
  norm_place: 'before' | 'after' | 'output' | 'both';
  norm_bias: boolean;
  parallel: boolean; // attention and feed-forward network read the same vector
  parallel_one_norm: boolean;
  residual: boolean;
  positions: string;
  relative: 'none' | 'buckets' | 'slopes'; // what is added to scores by distance
  rope_theta?: number;
  scale_embedding: boolean;
  activation: string;
  gated: boolean;
  ffn_bias: boolean;
  experts: { count: number; chosen: number; features: number; shared: number; normalize: boolean } | null;
  scale_scores: boolean;
  attention_scale: number | null; // instead of 1/√d_k
  scale_by_layer: boolean; // besides by 1/(number of the layer, from 1)
  attention_cap: number | null; // of scores
  tie_output: boolean;
  rnn?: { cell: string; context: string; bidirectional: boolean; layers: number; embed: number; hidden: number };
  stacks: Stack[];
  parts: Part[];
  generation?: { beams: number | null };
  notes: string[];
  example?: string | null; // a text of its own validation set
}

export interface Token {
  id: number;
  piece: string;
  text: string;
  bytes: number[];
  special: boolean;
}

export interface Tokens {
  two_sided: boolean;
  source?: Token[];
  input: Token[];
  target?: Token[];
  next: ({ id: number; piece: string } | null)[];
  source_ids?: number[];
  input_ids: number[];
  begins_by_custom: boolean;
  target_ids?: number[];
  target_text?: string;
  written_by_model?: boolean;
  limit: number;
  command: string;
}

export interface WeightedToken {
  token: string;
  id: number;
  value: number;
}

export interface Neuron {
  block: number;
  neuron: number;
  activation?: number;
  written?: number;
  asked: WeightedToken[];
  promoted: WeightedToken[];
  demoted: WeightedToken[];
  question_length: number;
  answer_length: number;
  count?: number;
  firing?: {
    share: number;
    histogram: { low: number; width: number; zeros: number; bins: number[] };
    texts: { text: number; position: number; activation: number; tokens: string[]; activations: number[]; marked: number }[];
  };
}

export interface HeadStatistics {
  attention: string;
  layer: number;
  head: number;
  entropy: number;
  first: number;
  distance?: number | null;
  previous?: number | null;
  induction?: number | null;
}

export interface LensCell {
  position: number;
  token: string;
  top: { token: string; id: number; probability: number }[];
  entropy_bits: number;
  watched?: { token: string; id: number; rank: number; probability: number; logit: number };
}
export interface Lens {
  lens: { layer: string; positions: LensCell[] }[];
  command: string;
}

export interface Attribution {
  position: number;
  token: string;
  id: number;
  against?: string;
  logit: number;
  sum: number;
  error: number;
  parts: { name: string; kind: string; value: number; layer?: number; index?: number }[];
  command: string;
}

export interface Trace {
  answer: string;
  clean: number;
  corrupted: number;
  noise_sigma: number;
  tokens: string[];
  maps: Record<string, { tap: string; probability: number[] }[]>;
  command: string;
}

export interface OutputToken {
  id: number;
  token: string;
  text: string;
  logit: number;
  probability: number;
  adjusted: number;
}
export interface Output {
  position: number;
  vocab: number;
  ids: number[];
  target_ids?: number[];
  entropy_bits: number;
  kept: number;
  tokens: OutputToken[];
  command: string;
}

export interface Beam {
  beam: number;
  length_penalty: number;
  nodes: BeamNode[];
  hypotheses: { node: number; ids: number[]; text: string; log_probability: number; score: number; ended: boolean }[];
  command: string;
}
export interface BeamNode {
  id: number;
  parent: number | null;
  step: number;
  token: string | null;
  log_probability: number;
  probability: number;
  state: string;
}

export interface Effect {
  position: number;
  tokens: {
    token: string; id: number; logit_before: number; logit_after: number; logit_change: number;
    probability_before: number; probability_after: number;
  }[];
  positions: { position: number; token: string; kl: number; top_before: string; top_after: string }[];
  same_bits: boolean;
  generated?: { before: string; after: string };
  command: string;
  toml: string;
}

export interface Weights {
  total: number;
  weights: { name: string; shape: number[]; type: string; parameters: number; part: string; bytes: number }[];
  command: string;
}

export interface RunState {
  id: string;
  state: string;
  step?: number;
  steps?: number;
  epoch?: number;
  loss?: number;
  learning_rate?: number;
  seconds?: number;
  seconds_left?: number | null;
  model_type?: string;
  validation?: Record<string, number | boolean>;
  model: string | null;
}
export interface RunDetail extends RunState {
  recipe_toml?: string;
  recorded: boolean;
  command?: string;
}
export interface RunEvent {
  line: number;
  event: string;
  step?: number;
  [name: string]: unknown;
}

// Experiments: verdicts on claims, and what the laboratory trains itself.
export interface Verdict {
  name: 'holds' | 'holds in part' | 'does not hold here' | 'undecided';
  text: string; // in the language asked for
  provisional: boolean;
}
export interface ExperimentSummary {
  number: number;
  name: string;
  title: string;
  claim: string;
  verdict: Verdict | null; // null: not run
  contrary: Verdict | null;
}
export interface ExperimentDetail extends ExperimentSummary {
  origin: string;
  method: string;
  reported: string;
  contrary_text: string;
  command: string;
  seconds?: number;
  parts: { meaning: string; must: string; threshold: number; main: boolean; baseline: boolean; mean: number; least: number; most: number; passed: number; seeds: number; mark: '✓' | '✗' | '–'; contrary: number | null; reason: string | null }[];
  planted: { text: string; mean: number; least: number; most: number; mark: '✓' | '✗' | '–'; passed: number; seeds: number } | null;
  commands: string[];
  tables: { caption: string; columns: string[]; rows: string[][] }[];
  figures: { svg: string; caption: string }[];
}
export interface Polygon {
  density: number;
  loss: number;
  represented: number[];
  shape: string;
  angles: number[];
  weight: number[]; // (2, features)
  bias: number[];
}
export interface InductionPoint {
  step: number;
  score: number; // of the head with the highest
  layer: number;
  head: number;
  scores: number[]; // (layers, heads)
  loss_first: number;
  loss_second: number;
}
export interface InductionCurve {
  layers: number;
  parameters: number;
  points: InductionPoint[];
}
export interface FactWorld {
  facts: { prompt: string; relation: string; object: string; real: boolean }[];
  objects: Record<string, string[]>; // by relation
}
export interface FactStudy {
  facts: number;
  recall: { facts: number };
  fact: { subject: string; relation: string; object: string; tokens: string[]; probability: number; corrupted: number; restored: Record<string, number[][]> };
  ablation: { neurons: { block: number; neuron: number; worth: number; elsewhere: number; promotes: string }[]; paraphrases: number; paraphrases_lost: number; probability_before: number; probability_after: number; others_kept: number };
  edit: { before: string; after: string; columns: number[]; relative_change: number; took: boolean; paraphrases: number; paraphrases_changed: number; held_out: number; held_out_changed: number; others_same: number };
}
export interface Feature {
  feature: number;
  share: number;
  promoted: { token: string; value: number }[];
  demoted: { token: string; value: number }[];
  texts: { activation: number; tokens: string[]; activations: number[]; marked: number }[];
}
