// Curves over steps: scales, paths and smoothing.
import { scaleLinear, scaleLog } from 'd3-scale';
import { line } from 'd3-shape';

export interface Series {
  name: string;
  points: [number, number][]; // x, y
}

// An exponential moving average with the bias of its beginning taken out.
export function smooth(points: [number, number][], weight: number): [number, number][] {
  if (weight <= 0) return points;
  let mean = 0;
  let whole = 0;
  return points.map(([x, y]) => {
    mean = weight * mean + (1 - weight) * y;
    whole = weight * whole + (1 - weight);
    return [x, mean / whole];
  });
}

// At most `most` points: of each run of them the mean.
export function thin(points: [number, number][], most: number): [number, number][] {
  if (points.length <= most) return points;
  const result: [number, number][] = [];
  for (let i = 0; i < most; i++) {
    const run = points.slice(Math.floor((i * points.length) / most), Math.floor(((i + 1) * points.length) / most));
    result.push([run.reduce((s, p) => s + p[0], 0) / run.length, run.reduce((s, p) => s + p[1], 0) / run.length]);
  }
  return result;
}

export interface Chart {
  paths: { name: string; path: string }[];
  xTicks: { at: number; text: string }[];
  yTicks: { at: number; text: string }[];
  x: (value: number) => number;
  y: (value: number) => number;
  invertX: (pixel: number) => number;
}

export function chart(series: Series[], width: number, height: number, margin: { left: number; right: number; top: number; bottom: number }, log = false): Chart {
  const points = series.flatMap((one) => one.points).filter((p) => Number.isFinite(p[1]) && (!log || p[1] > 0));
  const xs = points.map((p) => p[0]);
  const ys = points.map((p) => p[1]);
  const least = ys.length ? ys.reduce((a, b) => Math.min(a, b)) : 0;
  const most = ys.length ? ys.reduce((a, b) => Math.max(a, b)) : 1;
  const x = scaleLinear([Math.min(0, xs[0] ?? 0), xs.length ? xs.reduce((a, b) => Math.max(a, b)) : 1], [margin.left, width - margin.right]);
  const range: [number, number] = [height - margin.bottom, margin.top];
  const y = log && least > 0 ? scaleLog([least, most > least ? most : least * 10], range) : scaleLinear([Math.min(0, least), most > Math.min(0, least) ? most : 1], range).nice(4);
  const across = Math.max(3, Math.min(5, Math.floor((width - margin.left - margin.right) / 50)));
  const draw = line<[number, number]>().x((p) => x(p[0])).y((p) => y(p[1])).defined((p) => Number.isFinite(p[1]) && (!log || p[1] > 0));
  return {
    paths: series.map((one) => ({ name: one.name, path: draw(one.points) ?? '' })),
    xTicks: x.ticks(across).map((value) => ({ at: x(value), text: x.tickFormat(across, value >= 10000 ? '~s' : undefined)(value) })),
    yTicks: y.ticks(4).map((value) => ({ at: y(value), text: log ? String(value) : y.tickFormat(4, value >= 10000 ? '~s' : undefined)(value) })).slice(0, 8),
    x, y, invertX: (pixel) => x.invert(pixel),
  };
}
