// Views on typed arrays: what figures are functions of.
import type { Numbers, Tensor } from '../client/safetensors';

export interface Matrix {
  rows: number;
  cols: number;
  data: Numbers;
  offset: number; // of element (0, 0)
  stride: number; // from row to row
}

export const at = (m: Matrix, row: number, col: number): number => m.data[m.offset + row * m.stride + col];

export function matrix(data: Numbers, rows: number, cols: number): Matrix {
  return { rows, cols, data, offset: 0, stride: cols };
}

// The last two dimensions of a tensor, at `index` of those before them.
export function plane(tensor: Tensor, index = 0): Matrix {
  const cols = tensor.shape[tensor.shape.length - 1] ?? 1;
  const rows = tensor.shape.length > 1 ? tensor.shape[tensor.shape.length - 2] : 1;
  return { rows, cols, data: tensor.data, offset: index * rows * cols, stride: cols };
}

// Some columns of a matrix, e.g. those of one head.
export function columns(m: Matrix, begin: number, count: number): Matrix {
  return { ...m, cols: count, offset: m.offset + begin };
}

export function row(m: Matrix, index: number): Numbers {
  const begin = m.offset + index * m.stride;
  return m.data.subarray(begin, begin + m.cols);
}

export function subtract(a: Matrix, b: Matrix): Matrix {
  const data = new Float32Array(a.rows * a.cols);
  for (let i = 0; i < a.rows; i++) for (let j = 0; j < a.cols; j++) data[i * a.cols + j] = at(a, i, j) - at(b, i, j);
  return matrix(data, a.rows, a.cols);
}

// The largest finite magnitude; 0 of nothing.
export function largest(m: Matrix): number {
  let most = 0;
  for (let i = 0; i < m.rows; i++)
    for (let j = 0; j < m.cols; j++) {
      const value = Math.abs(at(m, i, j));
      if (value > most && value !== Infinity) most = value;
    }
  return most;
}

// Means over tiles, so that at most `most` rows and columns are left: what a screen can show of a large matrix.
export function reduce(m: Matrix, most: number): Matrix {
  const rows = Math.min(m.rows, most);
  const cols = Math.min(m.cols, most);
  if (rows === m.rows && cols === m.cols) return m;
  const data = new Float32Array(rows * cols);
  for (let i = 0; i < rows; i++) {
    const r0 = Math.floor((i * m.rows) / rows);
    const r1 = Math.floor(((i + 1) * m.rows) / rows);
    for (let j = 0; j < cols; j++) {
      const c0 = Math.floor((j * m.cols) / cols);
      const c1 = Math.floor(((j + 1) * m.cols) / cols);
      let sum = 0;
      let count = 0;
      for (let r = r0; r < r1; r++)
        for (let c = c0; c < c1; c++) {
          const value = at(m, r, c);
          if (Number.isFinite(value)) {
            sum += value;
            count++;
          }
        }
      data[i * cols + j] = count ? sum / count : NaN;
    }
  }
  return matrix(data, rows, cols);
}

export function toCsv(m: Matrix, rowNames: string[], colNames: string[]): string {
  const quote = (text: string) => (/[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
  const lines = [['', ...Array.from({ length: m.cols }, (_, j) => quote(colNames[j] ?? String(j)))].join(',')];
  for (let i = 0; i < m.rows; i++)
    lines.push([quote(rowNames[i] ?? String(i)), ...Array.from(row(m, i), String)].join(','));
  return lines.join('\n') + '\n';
}
