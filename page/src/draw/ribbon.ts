// Lines and bands between two rows of words: where each one looks.

export interface Band {
  from: number; // index above
  to: number; // index below
  weight: number;
  path: string;
}

// Words laid side by side; x is the middle of each. Widths come from whoever can measure text.
export function placeWords(widths: number[], gap: number, room: number): number[] {
  const whole = widths.reduce((sum, width) => sum + width + gap, -gap);
  const stretch = Math.min(2.2, Math.max(1, room / Math.max(whole, 1)));
  let x = Math.max(0, (room - whole * stretch) / 2);
  return widths.map((width) => {
    const middle = x + (width * stretch) / 2;
    x += (width + gap) * stretch;
    return middle;
  });
}

export function bandPath(x0: number, y0: number, x1: number, y1: number): string {
  const bend = (y1 - y0) * 0.45;
  return `M${x0.toFixed(1)},${y0}C${x0.toFixed(1)},${y0 + bend} ${x1.toFixed(1)},${y1 - bend} ${x1.toFixed(1)},${y1}`;
}

// The links worth drawing: weights of at least `least`, strongest last so that they lie on top; never more than `most`, and of the row
// `lit` the strongest ones however weak they are.
export function bands(weights: (row: number, col: number) => number, rows: number, cols: number, xs: { from: number[]; to: number[] }, ys: [number, number], least: number, most = 600, lit = -1): Band[] {
  const kept = 12;
  const own = lit < 0 || lit >= rows ? Infinity : [...Array(cols).keys()].map((j) => weights(lit, j)).sort((a, b) => b - a)[Math.min(kept, cols) - 1];
  const list: Band[] = [];
  for (let i = 0; i < rows; i++)
    for (let j = 0; j < cols; j++) {
      const weight = weights(i, j);
      if (weight >= least || (i === lit && weight > 0 && weight >= own)) list.push({ from: i, to: j, weight, path: '' });
    }
  list.sort((a, b) => Number(b.from === lit) - Number(a.from === lit) || b.weight - a.weight);
  const shown = list.slice(0, most).sort((a, b) => a.weight - b.weight);
  for (const band of shown) band.path = bandPath(xs.from[band.from], ys[0], xs.to[band.to], ys[1]);
  return shown;
}
