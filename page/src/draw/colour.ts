// Colours of values. Signed values: blue through the background's tone to red (vermilion), symmetric about 0, readable for the
// colour-blind; weights and probabilities: one hue from 0. The dark theme has scales of its own with the same order.

export type Scale = 'signed' | 'share';
export type Theme = 'light' | 'dark';
type Rgb = readonly [number, number, number];

const stops: Record<Theme, Record<Scale, readonly Rgb[]>> = {
  light: {
    signed: [[5, 48, 97], [33, 102, 172], [103, 169, 207], [209, 229, 240], [247, 247, 247], [253, 219, 199], [239, 138, 98], [178, 24, 43], [103, 0, 31]],
    share: [[247, 249, 251], [208, 226, 240], [146, 191, 221], [74, 143, 195], [16, 91, 155], [6, 48, 97]],
  },
  dark: {
    signed: [[170, 214, 255], [92, 164, 230], [45, 108, 170], [33, 62, 95], [31, 35, 41], [92, 48, 36], [172, 78, 48], [238, 132, 92], [255, 205, 180]],
    share: [[27, 32, 39], [28, 58, 90], [35, 94, 150], [70, 140, 205], [132, 190, 240], [214, 236, 255]],
  },
};

// Okabe and Ito's categories; on a dark ground in tones that can be read there.
export const categories: Record<Theme, readonly string[]> = {
  light: ['#0072b2', '#c45500', '#007f5c', '#b2558a', '#9a6a00', '#2a7fb8'],
  dark: ['#56b4e9', '#f2955a', '#2fc99a', '#e29cc4', '#efb940', '#8fc7f5'],
};

function mix(list: readonly Rgb[], share: number): Rgb {
  const place = Math.max(0, Math.min(1, share)) * (list.length - 1);
  const below = Math.min(list.length - 2, Math.floor(place));
  const part = place - below;
  const [a, b] = [list[below], list[below + 1]];
  return [a[0] + part * (b[0] - a[0]), a[1] + part * (b[1] - a[1]), a[2] + part * (b[2] - a[2])];
}

export type Palette = Uint8ClampedArray; // 256 colours, RGB
const palettes = new Map<string, Palette>();

export function palette(scale: Scale, theme: Theme): Palette {
  const name = scale + theme;
  let found = palettes.get(name);
  if (!found) {
    found = new Uint8ClampedArray(768);
    for (let i = 0; i < 256; i++) found.set(mix(stops[theme][scale], i / 255), 3 * i);
    palettes.set(name, found);
  }
  return found;
}

// Where a value lies on its scale, 0 … 255; -1 for what is no number or forbidden (−∞).
export function shade(value: number, scale: Scale, most: number): number {
  if (!Number.isFinite(value)) return -1;
  const share = most > 0 ? value / most : 0;
  return Math.round(255 * Math.max(0, Math.min(1, scale === 'signed' ? (share + 1) / 2 : share)));
}

export function colour(value: number, scale: Scale, most: number, theme: Theme): string {
  const index = shade(value, scale, most);
  if (index < 0) return 'transparent';
  const p = palette(scale, theme);
  return `rgb(${p[3 * index]},${p[3 * index + 1]},${p[3 * index + 2]})`;
}

// Text on a cell: dark or light, whichever can be read (relative luminance as WCAG defines it).
export function inkOn(value: number, scale: Scale, most: number, theme: Theme): string {
  const index = Math.max(0, shade(value, scale, most));
  const p = palette(scale, theme);
  const part = (x: number) => (x / 255 <= 0.03928 ? x / 255 / 12.92 : ((x / 255 + 0.055) / 1.055) ** 2.4);
  const luminance = 0.2126 * part(p[3 * index]) + 0.7152 * part(p[3 * index + 1]) + 0.0722 * part(p[3 * index + 2]);
  return luminance > 0.179 ? '#000000' : '#ffffff';
}

export const stopsOf = (scale: Scale, theme: Theme): readonly Rgb[] => stops[theme][scale];

export function gradient(scale: Scale, theme: Theme): string {
  const list = stopsOf(scale, theme).map((c) => `rgb(${c.join(',')})`);
  return `linear-gradient(to right, ${list.join(', ')})`;
}
