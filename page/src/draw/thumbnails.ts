// Many small patterns on one canvas: one cell per head.
import { at, type Matrix } from '../data/matrix';
import { palette, shade, type Theme } from './colour';

export interface Grid {
  columns: number;
  rows: number;
  cell: number; // pixels, the gap included
}

export function gridFor(count: number, perRow: number, width: number, largest: number): Grid {
  const columns = Math.max(1, Math.min(perRow, count));
  return { columns, rows: Math.ceil(count / columns), cell: Math.max(8, Math.min(largest, Math.floor(width / columns))) };
}

// Paints patterns[i] into cell i; each is scaled to its cell by taking the nearest number. `zoom`: device pixels per pixel.
// A line of one pixel around each keeps a pale one from dissolving into the ground.
export function paintThumbnails(patterns: Matrix[], grid: Grid, zoom: number, theme: Theme, pixels: Uint8ClampedArray): void {
  const line = theme === 'dark' ? 84 : 178;
  const colours = palette('share', theme);
  const width = grid.columns * grid.cell * zoom;
  const inner = (grid.cell - 4) * zoom;
  patterns.forEach((pattern, index) => {
    const left = (index % grid.columns) * grid.cell * zoom + 2 * zoom;
    const top = Math.floor(index / grid.columns) * grid.cell * zoom + 2 * zoom;
    for (let y = 0; y < inner; y++) {
      const row = Math.floor((y * pattern.rows) / inner);
      for (let x = 0; x < inner; x++) {
        const colour = Math.max(0, shade(at(pattern, row, Math.floor((x * pattern.cols) / inner)), 'share', 1));
        const p = 4 * ((top + y) * width + left + x);
        const edge = x < zoom || y < zoom || x >= inner - zoom || y >= inner - zoom;
        for (let c = 0; c < 3; c++) pixels[p + c] = edge ? line : colours[3 * colour + c];
        pixels[p + 3] = 255;
      }
    }
  });
}
