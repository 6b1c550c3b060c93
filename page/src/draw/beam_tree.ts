// The beam as a tree: steps from left to right; within a step the best beginning stands on top.
import type { BeamNode } from '../client/types';

export interface TreeNode extends BeamNode {
  x: number;
  y: number;
}

export function layOutTree(nodes: BeamNode[], stepWidth: number, laneHeight: number): { nodes: TreeNode[]; width: number; height: number } {
  const steps = new Map<number, BeamNode[]>();
  for (const node of nodes) {
    const list = steps.get(node.step);
    if (list) list.push(node);
    else steps.set(node.step, [node]);
  }
  let lanes = 1;
  let deepest = 0;
  const placed: TreeNode[] = [];
  for (const [step, list] of steps) {
    const kept = (node: BeamNode) => (node.state === 'dropped' ? 1 : 0);
    list.sort((a, b) => kept(a) - kept(b) || b.log_probability - a.log_probability);
    list.forEach((node, lane) => placed.push({ ...node, x: step * stepWidth, y: lane * laneHeight }));
    lanes = Math.max(lanes, list.length);
    deepest = Math.max(deepest, step);
  }
  return { nodes: placed, width: (deepest + 1) * stepWidth, height: lanes * laneHeight };
}
