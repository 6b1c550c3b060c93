// A matrix as pixels (one per cell: the browser enlarges them) and as SVG for saving. Functions of numbers alone.
import { at, largest, type Matrix } from '../data/matrix';
import { format } from '../data/numbers';
import { colour, inkOn, palette, shade, stopsOf, type Scale, type Theme } from './colour';
import { textWidth } from './labels';

// What a screen shows of a matrix that is wider or higher than it: of each tile the number of largest magnitude.
export function strongest(m: Matrix, mostRows: number, mostCols: number): Matrix {
  const rows = Math.min(m.rows, Math.max(1, mostRows));
  const cols = Math.min(m.cols, Math.max(1, mostCols));
  if (rows === m.rows && cols === m.cols) return m;
  const data = new Float32Array(rows * cols);
  for (let r = 0; r < m.rows; r++) {
    const i = Math.floor((r * rows) / m.rows);
    for (let c = 0; c < m.cols; c++) {
      const j = Math.floor((c * cols) / m.cols);
      const value = at(m, r, c);
      if (Number.isFinite(value) && Math.abs(value) > Math.abs(data[i * cols + j])) data[i * cols + j] = value;
    }
  }
  return { rows, cols, data, offset: 0, stride: cols };
}

export function paint(m: Matrix, scale: Scale, most: number, theme: Theme, pixels: Uint8ClampedArray): void {
  const colours = palette(scale, theme);
  const step = theme === 'dark' ? 60 : 214; // forbidden cells are hatched
  for (let i = 0, p = 0; i < m.rows; i++)
    for (let j = 0; j < m.cols; j++, p += 4) {
      const index = shade(at(m, i, j), scale, most);
      if (index < 0) pixels[p] = pixels[p + 1] = pixels[p + 2] = (i + j) % 2 ? step : step - 14;
      else {
        pixels[p] = colours[3 * index];
        pixels[p + 1] = colours[3 * index + 1];
        pixels[p + 2] = colours[3 * index + 2];
      }
      pixels[p + 3] = 255;
    }
}

export interface Layout {
  cell: { width: number; height: number };
  left: number; // room for the labels of rows
  top: number; // room for those of columns
  width: number; // of all
  height: number;
}

// As large as fits, with cells of at most `largest` pixels; square where both sides are tokens, or as much wider as `stretch` allows.
export function layOut(rows: number, cols: number, room: { width: number; height: number }, labels: { left: number; top: number }, square: boolean, largest = 44, stretch = 1): Layout {
  const left = Math.min(labels.left, room.width * 0.35);
  let width = Math.min(largest, (room.width - left) / cols);
  let height = Math.min(largest, Math.max(room.height - labels.top, 40) / rows);
  if (square) {
    height = Math.max(Math.min(width, height), Math.min(width, 2));
    width = Math.min(width, stretch * height);
  }
  else height = Math.max(height, 1);
  return { cell: { width, height }, left, top: labels.top, width: left + width * cols, height: labels.top + height * rows };
}

// Every n-th label, so that they stand at least `space` pixels apart.
export const labelStep = (cell: number, space: number): number => Math.max(1, Math.ceil(space / Math.max(cell, 0.01)));

export const escapeXml = (text: string): string => text.replace(/[&<>"]/g, (c) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' })[c] ?? c);

export interface SvgOptions {
  title: string;
  rows: string[];
  cols: string[];
  scale: Scale;
  most?: number; // the largest there is
  theme: Theme;
  texts?: string[][]; // what stands in the cells
}

// The scale as a bar with its ends named.
function legendSvg(scale: Scale, most: number, theme: Theme, x: number, y: number): string[] {
  const low = scale === 'signed' ? format(-most) : '0';
  const from = x + textWidth(low, 12) + 8;
  const stops = stopsOf(scale, theme).map((c, i, all) => `<stop offset="${i / (all.length - 1)}" stop-color="rgb(${c.join(',')})"/>`);
  return [
    `<defs><linearGradient id="scale-${scale}-${theme}">${stops.join('')}</linearGradient></defs>`,
    `<text x="${x}" y="${y + 10}">${low}</text><rect x="${from}" y="${y}" width="120" height="12" fill="url(#scale-${scale}-${theme})"/><text x="${from + 128}" y="${y + 10}">${format(most)}</text>`,
  ];
}

export function heatmapSvg(m: Matrix, o: SvgOptions): string {
  const shown = strongest(m, 256, 512);
  const most = o.most ?? largest(m);
  const widest = (list: string[]) => list.reduce((sum, text) => Math.max(sum, textWidth(text, 12)), 0);
  const width = Math.max(o.texts ? widest(o.texts.flat()) + 8 : 2, Math.min(28, 900 / shown.cols));
  const height = shown.rows <= 64 ? Math.max(14, Math.min(28, width)) : Math.max(2, 900 / shown.rows);
  const left = 20 + widest(o.rows);
  const top = 44 + 0.87 * widest(o.cols); // their labels lean by 60 degrees
  const foot = top + height * shown.rows + 14;
  const ink = o.theme === 'dark' ? '#e8ecf1' : '#14181d';
  const whole = Math.max(left + width * shown.cols + 0.5 * widest(o.cols.slice(-4)), 24 + textWidth(o.title, 13), 290) + 12;
  const parts = [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${Math.ceil(whole)}" height="${Math.ceil(foot + 24)}" font-family="Noto Sans, Noto Sans KR, Noto Sans CJK KR, sans-serif" font-size="12" fill="${ink}">`,
    `<rect width="100%" height="100%" fill="${o.theme === 'dark' ? '#14181d' : '#ffffff'}"/>`,
    `<text x="12" y="20" font-weight="600">${escapeXml(o.title)}</text>`,
    ...legendSvg(o.scale, most, o.theme, 12, foot),
  ];
  const rowStep = labelStep(height, 13) * (m.rows === shown.rows ? 1 : m.rows / shown.rows);
  for (let i = 0; i < m.rows && o.rows.length; i += Math.max(1, Math.round(rowStep)))
    parts.push(`<text x="${left - 6}" y="${top + ((i + 0.5) * height * shown.rows) / m.rows + 4}" text-anchor="end">${escapeXml(o.rows[i] ?? String(i))}</text>`);
  const colStep = Math.max(1, Math.round(labelStep(width, 13) * (m.cols / shown.cols)));
  for (let j = 0; j < m.cols && o.cols.length; j += colStep) {
    const x = left + ((j + 0.5) * width * shown.cols) / m.cols;
    parts.push(`<text transform="translate(${x + 4},${top - 6}) rotate(-60)">${escapeXml(o.cols[j] ?? String(j))}</text>`);
  }
  for (let i = 0; i < shown.rows; i++)
    for (let j = 0; j < shown.cols; j++) {
      const value = at(shown, i, j);
      if (!Number.isFinite(value)) continue;
      const text = o.texts?.[i]?.[j];
      parts.push(`<rect x="${(left + j * width).toFixed(2)}" y="${(top + i * height).toFixed(2)}" width="${width.toFixed(2)}" height="${height.toFixed(2)}" fill="${colour(value, o.scale, most, o.theme)}"><title>${escapeXml(`${o.rows[i] ?? i}, ${o.cols[j] ?? j}: ${value}`)}</title></rect>`);
      if (text) parts.push(`<text x="${(left + (j + 0.5) * width).toFixed(2)}" y="${(top + (i + 0.5) * height + 4).toFixed(2)}" text-anchor="middle" fill="${inkOn(value, o.scale, most, o.theme)}">${escapeXml(text)}</text>`);
    }
  parts.push('</svg>');
  return parts.join('\n');
}
