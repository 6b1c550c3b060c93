// The architecture as a drawing: one tower per stack, time upwards as in Figure 1 of the paper; the residual stream is one
// straight line and sub-layers branch off and add back. Chosen blocks are open, the others closed, so that forty fit too.
import type { ModelInfo, Part, Stack } from '../client/types';

// Parts of a model with one stack name none.
export const belongsTo = (part: Part, stack: Stack): boolean => [stack.name, stack.scope, stack.side].includes(part.stack);

export interface Box {
  part: Part | null; // null: a closed block
  stack: Stack | null;
  layer: number | null;
  label: string; // kind of the part, or "block"
  x: number;
  y: number;
  width: number;
  height: number;
  branch: boolean; // stands beside the stream and adds to it; else the stream passes through
  from: number; // where a branch leaves the stream, and where it is added back
  to: number;
}

export interface Tower {
  stack: Stack | null;
  stream: { x: number; from: number; to: number };
  boxes: Box[];
  blocks: { layer: number; x: number; y: number; width: number; height: number }[]; // the ground of open blocks
}

export interface MapLayout {
  towers: Tower[];
  crossings: { x0: number; y0: number; between: number; x1: number; y1: number }[]; // encoder's output into the decoder
  width: number;
  height: number;
}

const line = 26; // height of a box
const gap = 12;
const shut = 20;
const slim = 7; // a norm inside a block: a bar without a name
const close = 5;
const onStream = 9; // below and above a norm that stands on the stream
const around = 6; // what the ground of a block reaches beyond its parts

export function layOutMap(model: ModelInfo, chosen: { scope: string; layer: number }, width: number): MapLayout {
  const stacks = model.stacks;
  const lane = width / Math.max(1, stacks.length);
  const towers: Tower[] = [];
  const crossings: MapLayout['crossings'] = [];
  const rowsUp: number[] = [];
  stacks.forEach((stack, index) => {
    const left = index * lane;
    const streamX = left + (stacks.length > 1 ? 16 : 22);
    const boxes: Box[] = [];
    let up = 0; // counted from below
    const add = (part: Part | null, layer: number | null, label: string, branch: boolean, height = line, space = gap) => {
      const x = branch ? streamX + 12 : streamX - 9;
      boxes.push({ part, stack, layer, label, x, y: up, width: left + lane - x - 5, height, branch, from: 0, to: 0 });
      up += height + space;
    };
    const mine = model.parts.filter((part) => belongsTo(part, stack));
    const above = (one: Part, next: Part | undefined): number => {
      if (model.norm_place === 'after') return one.kind === 'norm' || next?.kind === 'norm' ? onStream : gap;
      return (one.kind === 'norm' && !behind(one)) || (next && behind(next)) ? close : gap;
    };
    for (const part of mine) if (part.layer === null && ['embedding', 'position', 'segment'].includes(part.kind)) add(part, null, part.kind, part.kind !== 'embedding');
    for (const part of mine) if (part.kind === 'bridge') add(part, null, part.kind, false);
    for (let layer = 0; layer < stack.layers; layer++) {
      const open = stack.layers <= 2 || (layer === chosen.layer && stack.scope === chosen.scope);
      const inside = mine.filter((part) => part.layer === layer);
      if (!open || !inside.some((part) => part.kind !== 'norm')) add(null, layer, 'block', false, shut);
      else {
        inside.forEach((part, i) => {
          const norm = part.kind === 'norm';
          // A norm stands close to the sub-layer whose input or output it is; on the stream itself in a post-norm model.
          add(part, layer, part.kind, norm ? model.norm_place !== 'after' : part.kind !== 'recurrent', norm ? slim : line, above(part, inside[i + 1]));
        });
        up += 4;
      }
    }
    for (const part of mine) if (part.layer === null && ['norm', 'pooler', 'alignment'].includes(part.kind) && !/embed/.test(part.id)) add(part, null, part.kind, false, part.kind === 'norm' ? shut : line);
    if (index === stacks.length - 1) {
      const loose = model.parts.filter((part) => part.layer === null && !mine.includes(part) && !['output', 'embedding', 'position', 'relative'].includes(part.kind));
      for (const part of loose) add(part, null, part.kind, false, part.kind === 'norm' ? shut : line);
      const output = model.parts.find((part) => part.kind === 'output');
      if (output) add(output, null, 'output', false);
    }
    towers.push({ stack, stream: { x: streamX, from: 0, to: up }, boxes, blocks: [] });
    rowsUp.push(up);
  });
  const height = Math.max(line, ...rowsUp) + 16;
  for (const tower of towers) {
    for (const box of tower.boxes) box.y = height - 8 - box.y - box.height;
    placeBranches(tower.boxes, model);
    const layers = [...new Set(tower.boxes.filter((box) => box.part && box.layer !== null).map((box) => box.layer!))];
    tower.blocks = layers.map((layer) => {
      const inside = tower.boxes.filter((box) => box.layer === layer);
      const top = Math.min(...inside.map((box) => box.y)) - around - 2;
      const right = Math.max(...inside.map((box) => box.x + box.width));
      const x = tower.stream.x - 15;
      return { layer, x, y: top, width: right + 3 - x, height: Math.max(...inside.map((box) => box.y + box.height)) + around - top };
    });
    tower.stream = { x: tower.stream.x, from: height - 4, to: height - 8 - tower.stream.to + gap };
  }
  if (towers.length > 1) {
    const [encoder, decoder] = towers;
    const top = encoder.stream.to;
    const into = decoder.boxes.filter((box) => ['cross_attention', 'alignment', 'bridge'].includes(box.label));
    for (const box of into.length ? into : decoder.boxes.filter((one) => one.label === 'block' || one.label === 'recurrent').slice(0, 1))
      crossings.push({ x0: encoder.stream.x, y0: top, between: lane + 1, x1: decoder.stream.x + (box.branch ? 12 : -9), y1: box.y + box.height / 2 });
  }
  return { towers, crossings, width, height };
}

// A norm of what a sub-layer writes, not of what it reads.
const behind = (part: Part | null): boolean => part?.kind === 'norm' && part.id.endsWith('_post');

// A branch leaves the stream below its own norm and returns above it. Sub-layers side by side (parallel blocks) read the same vector:
// both leave below the lowest and return above the highest.
function placeBranches(boxes: Box[], model: ModelInfo): void {
  boxes.forEach((box, i) => {
    const group = (step: 1 | -1): Box => { // boxes are listed from below
      let last = box;
      for (let k = i + step; boxes[k]?.label === 'norm' && boxes[k].branch && boxes[k].layer === box.layer && behind(boxes[k].part) === (step > 0); k += step) last = boxes[k];
      return last;
    };
    const all = model.parallel && box.layer !== null ? boxes.filter((one) => one.layer === box.layer && one.branch) : [];
    const [lowest, highest] = all.length ? [all[0], all[all.length - 1]] : [group(-1), group(1)];
    box.from = lowest.y + lowest.height + 6;
    box.to = highest.y - 5;
  });
}

export const roomOf = (kind: string): 'embedding' | 'attention' | 'feedforward' | 'residual' | 'output' => {
  if (kind === 'embedding' || kind === 'position' || kind === 'segment') return 'embedding';
  if (kind.includes('attention') || kind === 'alignment') return 'attention';
  if (kind === 'feed_forward') return 'feedforward';
  if (kind === 'output' || kind === 'pooler') return 'output';
  return 'residual';
};
