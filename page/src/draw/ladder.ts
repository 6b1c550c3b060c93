// A recurrent encoder-decoder as a ladder: one rung per token, time upwards, each state made from the one below it and from the
// token beside it. Of a long text the rungs around the selection.

export interface Rung {
  position: number;
  token: string;
  x: number; // of the state
  y: number;
}

export interface Lane {
  side: 'source' | 'input';
  x: number;
  rungs: Rung[];
  more: { below: boolean; above: boolean }; // rungs that are not shown
}

export interface Ladder {
  lanes: Lane[];
  width: number;
  height: number;
}

const step = 24;
const margin = 18;

export function layOutLadder(tokens: { side: 'source' | 'input'; names: string[]; selected: number }[], width: number, most: number): Ladder {
  const shown = Math.max(1, Math.min(most, ...[Math.max(...tokens.map((one) => one.names.length))]));
  const height = 2 * margin + (shown - 1) * step;
  const lanes = tokens.map(({ side, names, selected }, index): Lane => {
    const x = index === 0 ? width / 2 - 26 : width / 2 + 26;
    const count = Math.min(shown, names.length);
    const from = Math.max(0, Math.min(names.length - count, selected - Math.floor(count / 2)));
    const rungs = names.slice(from, from + count).map((token, i) => ({ position: from + i, token, x, y: height - margin - i * step }));
    return { side, x, rungs, more: { below: from > 0, above: from + count < names.length } };
  });
  return { lanes, width, height };
}
