// Where the parameters are: areas in proportion to numbers.
import { hierarchy, treemap, treemapSquarify } from 'd3-hierarchy';
import type { Part } from '../client/types';

export interface Tile {
  id: string;
  kind: string;
  group: string;
  parameters: number;
  x: number;
  y: number;
  width: number;
  height: number;
}

interface Branch {
  name: string;
  part?: Part;
  children?: Branch[];
}

export function parameterTiles(parts: Part[], width: number, height: number): Tile[] {
  const groups = new Map<string, Branch[]>();
  for (const part of parts) {
    if (!part.parameters) continue;
    const group = part.layer === null ? part.id : `${part.stack || 'blocks'} ${part.layer}`;
    groups.set(group, [...(groups.get(group) ?? []), { name: part.id, part }]);
  }
  const root: Branch = { name: '', children: [...groups].map(([name, children]) => ({ name, children })) };
  const tree = hierarchy(root).sum((branch) => branch.part?.parameters ?? 0).sort((a, b) => (b.value ?? 0) - (a.value ?? 0));
  return treemap<Branch>().size([width, height]).tile(treemapSquarify).paddingInner(1).paddingOuter(1)(tree).leaves()
    .filter((leaf) => leaf.data.part)
    .map((leaf) => ({
      id: leaf.data.name, kind: leaf.data.part?.kind ?? '', group: leaf.parent?.data.name ?? '', parameters: leaf.value ?? 0,
      x: leaf.x0, y: leaf.y0, width: leaf.x1 - leaf.x0, height: leaf.y1 - leaf.y0,
    }));
}
