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

export function toCsv(m: Matrix, rowNames: string[], colNames: string[]): string {
  const quote = (text: string) => (/[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
  const lines = [['', ...Array.from({ length: m.cols }, (_, j) => quote(colNames[j] ?? String(j)))].join(',')];
  for (let i = 0; i < m.rows; i++)
    lines.push([quote(rowNames[i] ?? String(i)), ...Array.from(row(m, i), String)].join(','));
  return lines.join('\n') + '\n';
}
