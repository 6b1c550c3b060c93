// A table as a picture, for views whose numbers stand in cells of the page rather than in a drawing.
import type { Theme } from './colour';
import { escapeXml } from './heatmap';
import { textWidth } from './labels';
import type { Saving } from './save';

export function tableSvg(title: string, head: string[], rows: string[][], theme: Theme): string {
  const [ink, pale, ground, line] = theme === 'dark' ? ['#e9edf2', '#a7b2bd', '#101418', '#2b343d'] : ['#14181d', '#515c68', '#ffffff', '#dde3e9'];
  const widths = head.map((name, j) => 20 + rows.reduce((most, row) => Math.max(most, textWidth(row[j] ?? '', 12)), textWidth(name, 12)));
  const lefts = widths.map((_, j) => 12 + widths.slice(0, j).reduce((sum, width) => sum + width, 0));
  const width = Math.ceil(Math.max(24 + widths.reduce((sum, one) => sum + one, 0), 24 + textWidth(title, 13)));
  const height = 58 + 20 * rows.length;
  const texts = (row: string[], y: number, fill: string) => row.map((text, j) => `<text x="${lefts[j].toFixed(1)}" y="${y}" fill="${fill}">${escapeXml(text)}</text>`).join('');
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" font-family="Noto Sans, Noto Sans KR, Noto Sans CJK KR, sans-serif" font-size="12">`,
    `<rect width="100%" height="100%" fill="${ground}"/><text x="12" y="20" font-size="13" font-weight="600" fill="${ink}">${escapeXml(title)}</text>`,
    texts(head, 42, pale),
    ...rows.map((row, i) => `<line x1="12" x2="${width - 12}" y1="${48 + 20 * i}" y2="${48 + 20 * i}" stroke="${line}"/>${texts(row, 62 + 20 * i, ink)}`),
    '</svg>',
  ].join('\n');
}

// Comma-separated values, quoted where they must be.
export const tableCsv = (head: string[], rows: string[][]): string =>
  [head, ...rows].map((row) => row.map((text) => (/[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text)).join(',')).join('\n') + '\n';

export const tableSaving = (name: string, title: string, head: string[], rows: string[][], json: unknown, theme: Theme): Saving => ({
  name, svg: () => tableSvg(title, head, rows, theme), csv: () => tableCsv(head, rows), json: () => json,
});
