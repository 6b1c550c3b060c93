// The beam as a tree: steps from left to right, hypotheses as lanes; a parent stands in the middle of its kept children.
import type { BeamNode } from '../client/types';

export interface TreeNode extends BeamNode {
  x: number;
  y: number;
}

export function layOutTree(nodes: BeamNode[], stepWidth: number, laneHeight: number): { nodes: TreeNode[]; width: number; height: number } {
  const children = new Map<number, BeamNode[]>();
  let root: BeamNode | undefined;
  for (const node of nodes) {
    if (node.parent === null) root = node;
    else children.set(node.parent, [...(children.get(node.parent) ?? []), node]);
  }
  const placed: TreeNode[] = [];
  let lane = 0;
  let deepest = 0;
  // A stack of its own instead of recursion: beams can be hundreds of steps long.
  const y = new Map<number, number>();
  const order: BeamNode[] = [];
  const open = root ? [root] : [];
  while (open.length) {
    const node = open.pop() as BeamNode;
    order.push(node);
    const below = [...(children.get(node.id) ?? [])].sort((a, b) => a.log_probability - b.log_probability);
    open.push(...below);
    if (!below.length) y.set(node.id, lane++ * laneHeight);
    deepest = Math.max(deepest, node.step);
  }
  for (const node of [...order].reverse())
    if (!y.has(node.id)) {
      const below = children.get(node.id) ?? [];
      const kept = below.filter((child) => child.state !== 'dropped');
      const list = kept.length ? kept : below;
      y.set(node.id, list.reduce((sum, child) => sum + (y.get(child.id) ?? 0), 0) / list.length);
    }
  for (const node of order) placed.push({ ...node, x: node.step * stepWidth, y: y.get(node.id) ?? 0 });
  return { nodes: placed, width: (deepest + 1) * stepWidth, height: Math.max(1, lane) * laneHeight };
}
